package plain

import (
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
)

// boxFold folds events of boxes, which homes have in their safes.
type boxFold struct{ *state }

// takeBox folds an event of a box.
func (s boxFold) takeBox(e *eventlog.Event) error {
	switch e.Type {
	case "BoxFilled":
		return decoded(event.DecodeBoxFilled, e, func(v event.BoxFilled) error {
			b := s.boxOf(v.Home, v.Upper)
			if b == nil || !s.giveTariff(b, v.Tariff, e) {
				return nil
			}
			b.KeeperID, b.Keeper, b.Papers = v.Keeper, s.owner(v.Keeper), nil
			for i, name := range v.Papers {
				b.Papers = append(b.Papers, model.Paper{Number: i, Name: name})
			}
			return s.setBox(v.Home, v.Upper, b, e)
		})
	case "BoxShared":
		return decoded(event.DecodeBoxShared, e, func(v event.BoxShared) error {
			b := s.boxOf(v.Home, v.Upper)
			if b == nil {
				return nil
			}
			for _, sponsor := range v.Sponsors {
				if s.copyOf(sponsor, e) == nil {
					return nil
				}
			}
			b.SponsorIDs = v.Sponsors
			return s.setBox(v.Home, v.Upper, b, e)
		})
	}
	return decoded(event.DecodeBoxTaken, e, func(v event.BoxTaken) error {
		if s.homes[v.Home] == nil {
			return nil
		}
		return s.setBox(v.Home, v.Upper, nil, e)
	})
}

// boxOf is a box as it is, to be changed, or a new one; nil where there is no such home.
func (s boxFold) boxOf(home string, upper bool) *model.Box {
	h := s.homes[home]
	switch {
	case h == nil:
		return nil
	case upper && h.Safe.Upper != nil:
		b := *h.Safe.Upper
		return &b
	case !upper && h.Safe.Lower != nil:
		b := *h.Safe.Lower
		return &b
	}
	return &model.Box{}
}

func (s boxFold) setBox(home string, upper bool, b *model.Box, e *eventlog.Event) error {
	h := s.homes[home]
	if h.Changed = &e.Time; upper {
		h.Safe.Upper = b
	} else {
		h.Safe.Lower = b
	}
	return s.setHome(home, h)
}

// giveTariff gives a box the tariff of the identifier, as it is now. Where it has that tariff already, the copy stays.
// It reports false where the event has to wait.
func (s boxFold) giveTariff(b *model.Box, id *string, e *eventlog.Event) bool {
	switch {
	case id == nil:
		b.TariffID, b.Tariff = nil, nil
	case b.TariffID == nil || *b.TariffID != *id:
		b.TariffID, b.Tariff = id, s.tariffOf(*id, e)
	}
	return id == nil || b.Tariff != nil
}

// boxes are those of a home that are there.
func boxes(h *model.Home) (all []*model.Box) {
	if h == nil {
		return nil
	}
	for _, b := range []*model.Box{h.Safe.Upper, h.Safe.Lower} {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}

// setKeepers has boxes hold the owner as it is now.
func (s boxFold) setKeepers(owner string) (err error) {
	for id, h := range s.homes {
		kept := false
		for _, b := range boxes(h) {
			if b.KeeperID != nil && *b.KeeperID == owner {
				b.Keeper, kept = s.owner(b.KeeperID), true
			}
		}
		if kept {
			err = errors.Join(err, s.setHome(id, h))
		}
	}
	return err
}

// withoutLater is a home without the copies of tariffs that follow after the commit of a change.
func withoutLater(h *model.Home) *model.Home {
	if h == nil {
		return nil
	}
	now := *h
	for _, b := range []**model.Box{&now.Safe.Upper, &now.Safe.Lower} {
		if *b != nil && (*b).TariffID != nil && isLater(*(*b).TariffID) {
			other := **b
			other.Tariff, *b = nil, &other
		}
	}
	return &now
}

// sponsors gives the boxes of a home the copies of those who share them, and says how many rows the copies in boxes are
// of.
func (s boxFold) sponsors(h *model.Home) (n int) {
	for _, b := range boxes(h) {
		n += given(b.TariffID, b.KeeperID) + len(b.SponsorIDs)
		b.Sponsors = nil
		for _, id := range b.SponsorIDs {
			b.Sponsors = append(b.Sponsors, s.branch(id))
		}
	}
	return n
}
