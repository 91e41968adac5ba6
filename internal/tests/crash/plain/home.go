package plain

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
)

// takeHome folds an event of a home.
func (s *state) takeHome(e *eventlog.Event) error {
	switch e.Type {
	case "HomeFormed":
		return decoded(event.DecodeHomeFormed, e, func(v event.HomeFormed) error { return s.form(v, e) })
	case "HomeRenamed":
		return decoded(event.DecodeHomeRenamed, e, func(v event.HomeRenamed) error {
			h := s.homes[v.Home]
			if h == nil {
				return nil
			}
			h.Name, h.Changed = v.Name, &e.Time
			return s.setHome(v.Home, h)
		})
	case "KeyGiven":
		return decoded(event.DecodeKeyGiven, e, func(v event.KeyGiven) error { return s.giveKey(v, e) })
	case "KeyLost":
		return decoded(event.DecodeKeyLost, e, func(v event.KeyLost) error {
			h := s.homes[v.Home]
			if h == nil {
				return nil
			}
			turn(h, v.Number, e)
			return s.setHome(v.Home, h)
		})
	}
	return decoded(event.DecodeHomeLeft, e, func(v event.HomeLeft) error { return s.setHome(v.Home, nil) })
}

func (s *state) setHome(id string, h *model.Home) error {
	s.homes[id] = h
	return note(s, model.HomeCodec, id, withoutLater(h))
}

// form makes a home anew, its keys all made by its branch.
func (s *state) form(v event.HomeFormed, e *eventlog.Event) error {
	if _, known := s.homes[v.Home]; !known {
		s.homes[v.Home] = nil
	}
	maker := s.copyOf(v.Branch, e)
	if maker == nil {
		return nil
	}
	h := &model.Home{ID: v.Home, Name: v.Name, BranchID: v.Branch, HeadID: v.Head, Changed: &e.Time}
	for i, holder := range v.Holders {
		key := model.SafeKey{Number: i, MakerID: v.Branch, Maker: maker}
		if holder != "" {
			key.HolderID = &v.Holders[i]
		}
		h.Safe.Keys = append(h.Safe.Keys, key)
	}
	return s.setHome(v.Home, h)
}

// giveKey adds a key, in place of that of its number. Where the home has a key of that maker already, it has a copy of
// the maker already, which stays.
func (s *state) giveKey(v event.KeyGiven, e *eventlog.Event) error {
	h := s.homes[v.Home]
	if h == nil {
		return nil
	}
	var maker *model.BranchCopy
	if i := slices.IndexFunc(h.Safe.Keys, func(k model.SafeKey) bool { return k.MakerID == v.Maker }); i >= 0 {
		maker = h.Safe.Keys[i].Maker
	} else if maker = s.copyOf(v.Maker, e); maker == nil {
		return nil
	}
	turn(h, v.Number, e)
	h.Safe.Keys = append(h.Safe.Keys, model.SafeKey{Number: v.Number, HolderID: v.Holder, MakerID: v.Maker, Maker: maker})
	slices.SortFunc(h.Safe.Keys, func(a, b model.SafeKey) int { return cmp.Compare(a.Number, b.Number) })
	return s.setHome(v.Home, h)
}

// turn takes the key of the number away.
func turn(h *model.Home, number int, e *eventlog.Event) {
	h.Safe.Keys = slices.DeleteFunc(h.Safe.Keys, func(k model.SafeKey) bool { return k.Number == number })
	h.Safe.Turns++
	h.Changed = &e.Time
}
