package projection

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// AggregateOps makes the ops of a model whose rows are aggregates, each kept as several items: R is its row, the whole
// object, and K its key. All ops are about whole objects; only the items that differ are written, and the root. Values
// are generated, one per model.
type AggregateOps[R, K any] struct {
	Codec        *querydb.Codec[R]
	Key          func(K) (keys.Key, error) // composes the stored key of the root
	SetKeyFields func(row *R, key K)       // sets the key fields of a row; Upsert creates rows with it
}

func (o *AggregateOps[R, K]) ops() *Ops[R, K, K] {
	return &Ops[R, K, K]{Codec: o.Codec, Key: o.Key, SetKeyFields: o.SetKeyFields}
}

// NewAggregate is [New] for the projector of aggregates; generated code calls it.
func NewAggregate[R, K any](ops *AggregateOps[R, K], p Projection) Projection {
	return New(ops.ops(), p)
}

// Set replaces the object, or creates it.
func (o *AggregateOps[R, K]) Set(row R) Op { return o.ops().Set(row) }

// Create creates the object and keeps one that exists as it is.
func (o *AggregateOps[R, K]) Create(row R) Op { return o.ops().Create(row) }

// Update reads the object, lets change alter anything in it but its key, and writes what differs. A missing object, or
// a changed key, is an error that makes the event a dead letter. Lists come in the order in which the API shows them.
func (o *AggregateOps[R, K]) Update(key K, change func(*R)) Op { return o.ops().Update(key, change) }

// Upsert is Update of the object, or of initial where there is none. The key fields of initial need not be set.
func (o *AggregateOps[R, K]) Upsert(key K, initial R, change func(*R)) Op {
	return o.ops().Upsert(key, initial, change)
}

// Delete removes the object with all its items; one that is not there is no error.
func (o *AggregateOps[R, K]) Delete(key K) Op { return o.ops().Delete(key) }
