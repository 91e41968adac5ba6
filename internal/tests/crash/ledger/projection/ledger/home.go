package ledger

import (
	"slices"

	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Home keeps households, each as items for its parts.
type Home struct{}

func (Home) HomeFormed(e event.HomeFormed, _ projection.Meta) []projection.Op {
	home := model.Home{ID: e.Home, Name: e.Name, BranchID: e.Branch, HeadID: e.Head}
	for i, holder := range e.Holders {
		key := model.SafeKey{Number: i, MakerID: e.Branch}
		if holder != "" {
			key.HolderID = &holder
		}
		home.Safe.Keys = append(home.Safe.Keys, key)
	}
	return []projection.Op{ops.Home.Set(home)}
}

func (Home) KeyGiven(e event.KeyGiven, _ projection.Meta) []projection.Op {
	return changeKeys(e.Home, e.Number, model.SafeKey{Number: e.Number, HolderID: e.Holder, MakerID: e.Maker})
}

func (Home) KeyLost(e event.KeyLost, _ projection.Meta) []projection.Op {
	return changeKeys(e.Home, e.Number)
}

// changeKeys has other keys, or none, in place of that of the number.
func changeKeys(home string, number int, keys ...model.SafeKey) []projection.Op {
	return []projection.Op{ops.Home.Update(home, func(h *model.Home) {
		others := slices.DeleteFunc(h.Safe.Keys, func(k model.SafeKey) bool { return k.Number == number })
		h.Safe.Keys = append(others, keys...)
		h.Safe.Turns++
	})}
}

func (Home) HomeLeft(e event.HomeLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Home.Delete(e.Home)}
}

func (Home) HomeRenamed(e event.HomeRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Home.Update(e.Home, func(h *model.Home) { h.Name = e.Name })}
}

func (Home) BoxFilled(e event.BoxFilled, _ projection.Meta) []projection.Op {
	return []projection.Op{changeBox(e.Home, e.Upper, func(b *model.Box) {
		b.TariffID, b.KeeperID, b.Papers = e.Tariff, e.Keeper, nil
		for i, name := range e.Papers {
			b.Papers = append(b.Papers, model.Paper{Number: i, Name: name})
		}
	})}
}

func (Home) BoxShared(e event.BoxShared, _ projection.Meta) []projection.Op {
	return []projection.Op{changeBox(e.Home, e.Upper, func(b *model.Box) { b.SponsorIDs = e.Sponsors })}
}

func (Home) BoxTaken(e event.BoxTaken, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Home.Update(e.Home, func(h *model.Home) { *box(h, e.Upper) = nil })}
}

// changeBox changes a box, or a new one where there is none.
func changeBox(home string, upper bool, change func(*model.Box)) projection.Op {
	return ops.Home.Update(home, func(h *model.Home) {
		b := box(h, upper)
		if *b == nil {
			*b = &model.Box{}
		}
		change(*b)
	})
}

// box is the place of a box.
func box(h *model.Home, upper bool) **model.Box {
	if upper {
		return &h.Safe.Upper
	}
	return &h.Safe.Lower
}
