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
