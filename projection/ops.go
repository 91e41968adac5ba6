package projection

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Op is one change that a projector asks for. Ops are made by the methods of Ops; they are pure data until the engine
// evaluates them.
type Op interface {
	isOp()
}

// Ops makes the ops of one model: R is its row, K its key, P its partition key. Values are generated, one per model.
type Ops[R, K, P any] struct {
	Codec     *querydb.Codec[R]
	Key       func(K) (keys.Key, error)
	Partition func(P) (string, error)
	// Fill sets the key fields of a row; Patch and Upsert create rows with it. Without it they cannot create any.
	Fill func(row *R, key K)
}

// Set replaces the row, or creates it.
func (o *Ops[R, K, P]) Set(row R) Op {
	key, err := o.keyOf(&row)
	return &setOp[R]{target: target{key, err}, row: row}
}

// Create creates the row and keeps one that exists as it is.
func (o *Ops[R, K, P]) Create(row R) Op {
	key, err := o.keyOf(&row)
	return &createOp[R]{target: target{key, err}, row: row}
}

// Update reads the row, lets change alter it, and writes it. A missing row, or a changed key, is an error that sets the
// event aside.
func (o *Ops[R, K, P]) Update(key K, change func(*R)) Op {
	return &updateOp[R]{target: o.target(key), change: change, fill: o.identity(key)}
}

// Upsert is Update of the row, or of initial where there is none. The key fields of initial need not be set.
func (o *Ops[R, K, P]) Upsert(key K, initial R, change func(*R)) Op {
	if o.Fill != nil {
		o.Fill(&initial, key)
	}
	return &updateOp[R]{target: o.target(key), change: change, initial: &initial, fill: o.identity(key)}
}

// Follow adds a row that continues the partition: next gets the row of the highest position below this event's
// (sentinel sort keys, which begin with "~", aside), or the zero row where there is none, and returns the new one.
//
// Only rows that events of the same source partition wrote last can be followed: positions of different partitions have
// no order. So rows that several projections write cannot be. Of several rows of one position the one with the greatest sort key is the latest.
func (o *Ops[R, K, P]) Follow(partition P, next func(latest R) R) Op {
	pk, err := o.Partition(partition)
	return &followOp[R]{partition: pk, err: err, next: next}
}

// Delete removes the row; one that is not there is no error.
func (o *Ops[R, K, P]) Delete(key K) Op { return &deleteOp[R]{o.target(key), o.identity(key)} }

// DeletePartition removes all rows of the partition.
func (o *Ops[R, K, P]) DeletePartition(partition P) Op {
	pk, err := o.Partition(partition)
	return &deletePartitionOp[R]{partition: pk, err: err}
}

// Patch starts a partial write: fields not named stay as they are, the row is created if need be.
func (o *Ops[R, K, P]) Patch(key K) *Patch[R] {
	return &Patch[R]{target: o.target(key), fill: o.filling(key)}
}

// filling is Fill with the key, nil where there is no Fill.
func (o *Ops[R, K, P]) filling(key K) func(*R) {
	if o.Fill == nil {
		return nil
	}
	return func(row *R) { o.Fill(row, key) }
}

// identity is filling where the text of the key does not tell it from every other, else nil.
func (o *Ops[R, K, P]) identity(key K) func(*R) {
	if m := o.Codec.Model; !meets(&m.PK.Layout) && !meets(&m.SK.Layout) {
		return nil
	}
	return o.filling(key)
}

func (o *Ops[R, K, P]) target(key K) target {
	k, err := o.Key(key)
	return target{k, err}
}

// keyOf composes the key of a row that is to be written. A row whose key holds a stamp has its key only when the time
// of the event is known: see fold.stamped.
func (o *Ops[R, K, P]) keyOf(row *R) (keys.Key, error) {
	if stampedKey(o.Codec.Model) {
		return keys.Key{}, nil
	}
	return querydb.KeyOf(o.Codec, row)
}

// target is the row that an op is about, or why there is none.
type target struct {
	key keys.Key
	err error
}

func (target) isOp() {}

type setOp[R any] struct {
	target
	row R
}

func (o *setOp[R]) need(f *fold[R], at occasion) error {
	if o.err != nil {
		return o.err
	}
	return f.needWritten(&o.row, o.key, at)
}

func (o *setOp[R]) eval(f *fold[R], at occasion) error {
	row, key, err := f.stamped(o.row, o.key, at)
	if err != nil {
		return err
	}
	if e := f.entry(key); !f.passed(e, at) {
		return f.replace(e, row, at)
	}
	return nil
}

type createOp[R any] struct {
	target
	row R
}

func (o *createOp[R]) need(f *fold[R], at occasion) error {
	if o.err != nil {
		return o.err
	}
	return f.needRow(&o.row, o.key, at)
}

func (o *createOp[R]) eval(f *fold[R], at occasion) error {
	row, key, err := f.stamped(o.row, o.key, at)
	if err != nil {
		return err
	}
	e := f.entry(key)
	if f.passed(e, at) {
		return nil
	}
	if f.visible(e, at) {
		return f.identical(e, &row, at)
	}
	return f.replace(e, row, at)
}

// updateOp is Update, and Upsert where it has an initial row.
type updateOp[R any] struct {
	target
	change  func(*R)
	initial *R
	fill    func(*R) // see Ops.identity
}

func (o *updateOp[R]) need(f *fold[R], _ occasion) error {
	if o.err != nil {
		return o.err
	}
	return f.needKey(o.key)
}

func (o *updateOp[R]) eval(f *fold[R], at occasion) error {
	e := f.entry(o.key)
	if f.passed(e, at) {
		return nil
	}
	if err := f.identified(e, o.fill, at); err != nil {
		return err
	}
	if f.visible(e, at) {
		row := f.codec.Clone(&e.row)
		o.change(&row)
		return f.update(e, row, at)
	}
	if o.initial == nil {
		return fmt.Errorf("update %s row %q: %w; Upsert creates one", f.model.Name, e.key, errNoRow)
	}
	row := f.codec.Clone(o.initial)
	o.change(&row)
	if err := f.sameKey(e, &row, at); err != nil {
		return err
	}
	return f.replace(e, row, at)
}

type deleteOp[R any] struct {
	target
	fill func(*R) // see Ops.identity
}

func (o *deleteOp[R]) need(f *fold[R], _ occasion) error {
	if o.err == nil && f.mustRead() {
		return f.needKey(o.key)
	}
	return o.err
}

func (o *deleteOp[R]) eval(f *fold[R], at occasion) error {
	e := f.entry(o.key)
	if f.passed(e, at) || f.identified(e, o.fill, at) != nil { // of that id there is no row
		return nil
	}
	f.remove(e, at)
	return nil
}
