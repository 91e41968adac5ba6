package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Hold keeps holds until their time.
type Hold struct{}

func (Hold) Held(e event.Held, _ projection.Meta) []projection.Op {
	row := model.Hold{Account: e.Account, Level: e.Level, Hold: e.Hold, HoldOf: e.Hold, Until: e.Until, Times: 1}
	if !e.Keep {
		return []projection.Op{ops.Hold.Set(row)}
	}
	key := model.HoldKey{Account: e.Account, Level: e.Level, Hold: e.Hold}
	return []projection.Op{
		ops.Hold.Create(row),
		ops.Hold.Update(key, func(h *model.Hold) { h.Times++ }),
	}
}

func (Hold) Released(e event.Released, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Hold.Delete(model.HoldKey{Account: e.Account, Level: e.Level, Hold: e.Hold})}
}

func (Hold) Purged(e event.Purged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Hold.DeletePartition(e.Account)}
}

// Level keeps the levels at which an account was held, under a number.
type Level struct{}

func (Level) Held(e event.Held, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Level.Set(model.Level{Account: e.Account, Hold: e.Hold, Level: e.Level, Held: e.Level})}
}

func (Level) Released(e event.Released, _ projection.Meta) []projection.Op {
	if e.Level > 0 {
		return []projection.Op{ops.Level.Delete(model.LevelKey{Account: e.Account, Hold: e.Hold, Level: e.Level})}
	}
	return []projection.Op{ops.Level.DeletePartition(model.LevelPartition{Account: e.Account, Hold: e.Hold})}
}

func (Level) Purged(e event.Purged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Level.DeletePartition(model.LevelPartition{Account: e.Account, Hold: "h1"})}
}
