package projection

import (
	"time"

	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
)

// SeriesOps makes the ops of a model that is a time series: those of [Ops], and Append. A is what is appended, E a row
// of the history. Values are generated, one per model.
type SeriesOps[R, K, P, A, E any] struct {
	Ops[R, K, P]
	History *querydb.Codec[E]
	// OrderBy and EventOrderBy are the ordinals, in the row and in a row of the history, of the field by which events
	// are ordered.
	OrderBy, EventOrderBy int
	Keep                  time.Duration             // how long the history keeps an event; 0 is for ever
	Assign                func(p *Patch[R], a A)    // has a patch set all fields that are appended
	Event                 func(key K, appended A) E // without what SetOrigin sets
	// SetOrigin sets what tells two events of one time apart: where the event stands in its source.
	SetOrigin func(row *E, partition string, offset int64)
}

// Append appends an event to the row: the row, which is created if need be, takes the fields if the event is newer than
// what it holds, and keeps all others. The history keeps the event whether it is newer or not. An event can append to
// one row once at each time.
func (o *SeriesOps[R, K, P, A, E]) Append(key K, a A) RowOp {
	p := o.Patch(key)
	o.Assign(p, a)
	event := o.Event(key, a)
	return fold.Append(p.patch, o.OrderBy, o.history(), &event)
}

// DeletePartition removes all rows of the partition, and the history of each.
func (o *SeriesOps[R, K, P, A, E]) DeletePartition(partition P) Op {
	return fold.DeleteSeries(o.partition(partition), o.History.Model)
}

func (o *SeriesOps[R, K, P, A, E]) history() *fold.History {
	return &fold.History{Codec: querydb.Any(o.History), OrderBy: o.EventOrderBy, SetOrigin: fold.OriginFuncOf(o.SetOrigin),
		Keep: o.Keep}
}

// NewSeries is [New] for the projector that appends to the rows of a time series; generated code calls it.
func NewSeries[R, K, P, A, E any](ops *SeriesOps[R, K, P, A, E], p Projection) Projection {
	p = New(&ops.Ops, p)
	history := fold.ModelOf(querydb.Any(ops.History), fold.WriterOf(ops.History.Model, p.Name))
	p.history = &history
	return p
}
