package fold

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Op is one change that a projector asks for. Ops are pure data until they are evaluated.
type Op interface {
	// model is that of the row which the op changes.
	model() *querydb.Model
}

// change is an Op on rows of the type R.
type change[R any] interface {
	Op
	need(f *modelFold[R], at ApplyPoint) error
	eval(f *modelFold[R], at ApplyPoint) error
}

// member is a Fold's rows of one model, whose type the Fold need not know.
type member interface {
	model() *querydb.Model
	reset()
	need(op Op, at ApplyPoint) error
	load(ctx context.Context) error

	begin() // of an event
	eval(op Op, at ApplyPoint) error
	encode() error // what the event in hand has changed
	changed() int  // rows, by the event in hand
	size() (writes, bytes int)
	changesFollowed() bool
	judgeUniqueKeys(at ApplyPoint) (cut bool)
	takeUniqueKeys()
	rollback()

	missed() missing
	miss(what missing)

	writes(dst []querydb.Write) []querydb.Write
	committed(end querydb.Position)
	forget()
}

// target is the row that an op is about, or why there is none.
type target struct {
	of  *querydb.Model
	key keys.Key
	err error
}

func (t *target) model() *querydb.Model { return t.of }
