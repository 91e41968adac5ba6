// Package projection folds events into rows.
//
// A projector is a pure function from one event to ops; the engine reads a window of events, evaluates their ops in
// order on copies in memory, and writes each changed row once, in one commit with the checkpoint.
package projection

import (
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Meta is what a projector knows of an event beside its data.
type Meta struct {
	ID, Source, Type, Subject string
	Time                      time.Time
	Partition                 string
	Offset                    uint64
}

// Projection is a projector ready to run: which events it takes, and how one becomes ops. Projections are made by the
// generated Project functions.
type Projection struct {
	Name   string // of the projector; checkpoints are kept under it
	Model  *querydb.Model
	Events []string // types it takes
	Stream string   // CloudEvents source it takes events of, "" for any
	Tags   []string // tags that an event must all carry
	// TagsOf returns the tags of an event; needed where Tags is not empty.
	TagsOf func(e *eventlog.Event) ([]string, error)
	// Project decodes the event and hands it to the projector.
	Project func(e *eventlog.Event, m Meta) ([]Op, error)

	newFold func(db *querydb.DB) folder // typed by the model's rows
}

// Op is one change that a projector asks for. Ops are made by the methods of Ops.
type Op interface {
	isOp()
}

// folder is the typed half of a window: see fold.
type folder interface{}

// Ops makes the ops of one model: R is its row, K its key, P its partition key. Values are generated, one per model.
type Ops[R, K, P any] struct {
	Codec     *querydb.Codec[R]
	Key       func(K) (keys.Key, error)
	Partition func(P) (string, error)
}

// Set replaces the row, or creates it.
func (o *Ops[R, K, P]) Set(row R) Op { panic("projection: to be written") }

// Create creates the row and keeps one that exists as it is.
func (o *Ops[R, K, P]) Create(row R) Op { panic("projection: to be written") }

// Update reads the row, lets change alter it, and writes it. A missing row, or a changed key, is an error that sets the
// event aside.
func (o *Ops[R, K, P]) Update(key K, change func(*R)) Op { panic("projection: to be written") }

// Upsert is Update of the row, or of initial where there is none.
func (o *Ops[R, K, P]) Upsert(key K, initial R, change func(*R)) Op {
	panic("projection: to be written")
}

// Follow adds a row that continues the partition: next gets the row of the highest position below this event's
// (sentinel sort keys, which begin with "~", aside), or the zero row where there is none, and returns the new one.
func (o *Ops[R, K, P]) Follow(partition P, next func(latest R) R) Op {
	panic("projection: to be written")
}

// Delete removes the row; one that is not there is no error.
func (o *Ops[R, K, P]) Delete(key K) Op { panic("projection: to be written") }

// DeletePartition removes all rows of the partition.
func (o *Ops[R, K, P]) DeletePartition(partition P) Op { panic("projection: to be written") }

// Patch starts a partial write: fields not named stay as they are, the row is created if need be.
func (o *Ops[R, K, P]) Patch(key K) *Patch[R] { panic("projection: to be written") }

// Patch is a partial write; it is an Op.
type Patch[R any] struct{}

func (*Patch[R]) isOp() {}

// Set gives fields values.
func (p *Patch[R]) Set(fields ...Assignment[R]) *Patch[R] { panic("projection: to be written") }

// Clear leaves the fields without a value; the policy of each index half decides what becomes of its key.
func (p *Patch[R]) Clear(fields ...FieldRef[R]) *Patch[R] { panic("projection: to be written") }

// Remove takes the fields away, and the row out of every index half that they belong to.
func (p *Patch[R]) Remove(fields ...FieldRef[R]) *Patch[R] { panic("projection: to be written") }

// FieldRef names a field of R; generated.
type FieldRef[R any] interface{ ref(R) int }

// PatchField is a field of R with values of type V; generated.
type PatchField[R, V any] struct {
	Ordinal int
	Assign  func(row *R, v V)
	Reset   func(row *R) // nil on a field that cannot be null
}

func (f PatchField[R, V]) ref(R) int { return f.Ordinal }

// To is the assignment of a value.
func (f PatchField[R, V]) To(v V) Assignment[R] { panic("projection: to be written") }

// Assignment is a field and the value it gets.
type Assignment[R any] struct {
	ordinal int
	apply   func(*R)
}

// New makes a Projection out of a model's ops and a function that decodes and projects; generated code calls it.
func New[R, K, P any](ops *Ops[R, K, P], p Projection) Projection { panic("projection: to be written") }
