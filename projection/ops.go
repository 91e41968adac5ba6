package projection

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
)

// Op is one change that a projector asks for, to a row or a partition of one model. The methods of [Ops] make ops;
// they are pure data until the engine evaluates them.
type Op = fold.Op

// Ops makes the ops of one model: R is its row, K its key, P its partition key. Values are generated, one per model.
type Ops[R, K, P any] struct {
	Codec     *querydb.Codec[R]
	Key       func(K) (keys.Key, error) // composes the stored key of a row
	Partition func(P) (string, error)   // composes the stored partition key
	// SetKeyFields sets the key fields of a row; Patch and Upsert create rows with it. Without it they cannot create any.
	SetKeyFields func(row *R, key K)
}

// Set replaces the row, or creates it.
func (o *Ops[R, K, P]) Set(row R) RowOp { return fold.Set(querydb.Any(o.Codec), &row) }

// Create creates the row and keeps one that exists as it is.
func (o *Ops[R, K, P]) Create(row R) RowOp { return fold.Create(querydb.Any(o.Codec), &row) }

// Update reads the row, lets change alter it, and writes it. A missing row, or a changed key, is an error that makes
// the event a dead letter.
func (o *Ops[R, K, P]) Update(key K, change func(*R)) RowOp {
	return fold.Update(o.target(key), o.identity(key), fold.RowFuncOf(change))
}

// Upsert is Update of the row, or of initial where there is none. The key fields of initial need not be set.
func (o *Ops[R, K, P]) Upsert(key K, initial R, change func(*R)) RowOp {
	if o.SetKeyFields != nil {
		o.SetKeyFields(&initial, key)
	}
	return fold.Upsert(o.target(key), o.identity(key), &initial, fold.RowFuncOf(change))
}

// Follow inserts a row derived from the latest row of the partition: next gets the row of the highest position below
// this event's, or the zero row if there is none, and returns the new one, which replaces a row with the same key. Rows
// with sentinel sort keys, which begin with "~", are never the latest.
//
// Only rows that events of the same source partition wrote last can be followed: positions of different partitions have
// no order. So rows that several projections write cannot be. Of several rows of one position the one with the greatest
// sort key is the latest.
func (o *Ops[R, K, P]) Follow(partition P, next func(latest R) R) Op {
	return fold.Follow(o.partition(partition), fold.NextFuncOf(next))
}

// Delete removes the row; one that is not there is no error.
func (o *Ops[R, K, P]) Delete(key K) RowOp { return fold.Delete(o.target(key), o.identity(key)) }

// DeletePartition removes all rows of the partition.
func (o *Ops[R, K, P]) DeletePartition(partition P) Op {
	return fold.DeletePartition(o.partition(partition))
}

// Patch starts a partial write: fields not named stay as they are, the row is created if need be.
func (o *Ops[R, K, P]) Patch(key K) *Patch[R] {
	return &Patch[R]{fold.NewPatch(o.target(key), o.filling(key))}
}

// filling is SetKeyFields with the key, nil where there is no SetKeyFields.
func (o *Ops[R, K, P]) filling(key K) fold.RowFunc {
	if o.SetKeyFields == nil {
		return nil
	}
	return fold.RowFuncOf(func(row *R) { o.SetKeyFields(row, key) })
}

// identity is filling where the text of the key does not tell it from every other, else nil.
func (o *Ops[R, K, P]) identity(key K) fold.RowFunc {
	if !fold.KeysCollide(o.Codec.Model) {
		return nil
	}
	return o.filling(key)
}

func (o *Ops[R, K, P]) target(key K) fold.Target {
	k, err := o.Key(key)
	return fold.Target{Model: o.Codec.Model, Key: k, Err: err}
}

func (o *Ops[R, K, P]) partition(partition P) fold.PartitionTarget {
	pk, err := o.Partition(partition)
	return fold.PartitionTarget{Model: o.Codec.Model, Partition: pk, Err: err}
}
