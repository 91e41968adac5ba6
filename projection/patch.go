package projection

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/fold"
)

// Patch is a partial write; it is an Op. What is said last of a field counts.
//
// On a model that shares its table, each index half is composed of what the patch says: see
// [keys.IndexHalf.UpdateForPatch]. Of a half of which it names a field, it must give each composite that can be null
// and is to be in the key; those that cannot be null, all of a unique index, and those of the row's own key are the
// row's where the patch leaves them out. An empty patch brings the halves that need no other. On any other model the
// row's own fields fill up what the patch leaves out.
type Patch[R any] struct {
	patch
}

type patch = fold.Patch

// Set gives fields values.
func (p *Patch[R]) Set(fields ...Assignment[R]) *Patch[R] {
	for _, a := range fields {
		fold.Extend(&p.patch, keys.FieldGiven, a.ordinal, fold.RowFuncOf(a.apply))
	}
	return p
}

// Clear sets the fields to null and leaves it to the policy of each index half whether the row stays in the indexes on
// them. Without a policy the half keeps its stored key until it can be composed again.
func (p *Patch[R]) Clear(fields ...FieldRef[R]) *Patch[R] {
	return p.without(keys.FieldCleared, fields)
}

// Remove sets the fields to null, as [Patch.Clear] does, and also takes the row out of the indexes on them, whatever
// the policy. Only an index half that can be composed without them stays.
func (p *Patch[R]) Remove(fields ...FieldRef[R]) *Patch[R] {
	return p.without(keys.FieldRemoved, fields)
}

// Cascade says how copies of the row follow this change, in place of what the schema says: see RowOp.
func (p *Patch[R]) Cascade(how Cascade) Op { return fold.WithCascade(&p.patch, how) }

// NoCascade has no copy of the row follow this change.
func (p *Patch[R]) NoCascade() Op { return fold.WithoutCascade(&p.patch) }

func (p *Patch[R]) without(m keys.FieldChange, fields []FieldRef[R]) *Patch[R] {
	for _, f := range fields {
		ordinal, reset := f.ref()
		fold.Extend(&p.patch, m, ordinal, fold.RowFuncOf(reset))
	}
	return p
}

// FieldRef names a field of R; generated.
type FieldRef[R any] interface {
	ref() (ordinal int, reset func(*R))
}

// PatchField is the [FieldRef] of a field whose values are of type V; generated.
type PatchField[R, V any] struct {
	Ordinal int // in Model.Fields
	Write   func(row *R, v V)
	Reset   func(row *R) // nil on a field that cannot be null
}

func (f *PatchField[R, V]) ref() (int, func(*R)) { return f.Ordinal, f.Reset }

// Assign returns the assignment of a value to the field, for [Patch.Set].
//
// It is not inlined: a generated package has several wrappers of it for each field, and each would have its closure.
//
//go:noinline
func (f *PatchField[R, V]) Assign(v V) Assignment[R] {
	return Assignment[R]{ordinal: f.Ordinal, apply: func(row *R) { f.Write(row, v) }}
}

// Assignment is a field and the value it gets.
type Assignment[R any] struct {
	ordinal int
	apply   func(*R)
}
