package projection

import (
	"fmt"

	"github.com/foldql/foldql/keys"
)

// Patch is a partial write; it is an Op. What is said last of a field counts.
//
// On a model that shares its table, a patch is judged by what it says and the row's key alone, as if the row had not been
// read: see [keys.IndexHalf.Patch]. So it takes all composites of an index half that are to be in the key, and an empty patch
// brings the halves that need none. On any other model the row's own fields fill up what the patch leaves out.
type Patch[R any] struct {
	target
	fill  func(*R)
	steps []step[R]
}

// step is one field of a Patch.
type step[R any] struct {
	mention keys.FieldChange
	field   int
	apply   func(*R) // nil where the field cannot be null
}

// Set gives fields values.
func (p *Patch[R]) Set(fields ...Assignment[R]) *Patch[R] {
	for _, a := range fields {
		p.steps = append(p.steps, step[R]{keys.FieldGiven, a.ordinal, a.apply})
	}
	return p
}

// Clear leaves the fields without a value; the policy of each index half decides what becomes of its key. Without one the
// half keeps its stored key until it can be composed anew.
func (p *Patch[R]) Clear(fields ...FieldRef[R]) *Patch[R] {
	return p.without(keys.FieldCleared, fields)
}

// Remove takes the fields away, and the row out of every index half that they belong to and that can no longer be composed.
func (p *Patch[R]) Remove(fields ...FieldRef[R]) *Patch[R] {
	return p.without(keys.FieldRemoved, fields)
}

func (p *Patch[R]) without(m keys.FieldChange, fields []FieldRef[R]) *Patch[R] {
	for _, f := range fields {
		ordinal, reset := f.ref()
		p.steps = append(p.steps, step[R]{m, ordinal, reset})
	}
	return p
}

// FieldRef names a field of R; generated.
type FieldRef[R any] interface {
	ref() (ordinal int, reset func(*R))
}

// PatchField is a field of R with values of type V; generated.
type PatchField[R, V any] struct {
	Ordinal int
	Assign  func(row *R, v V)
	Reset   func(row *R) // nil on a field that cannot be null
}

func (f PatchField[R, V]) ref() (int, func(*R)) { return f.Ordinal, f.Reset }

// To is the assignment of a value.
func (f PatchField[R, V]) To(v V) Assignment[R] {
	return Assignment[R]{ordinal: f.Ordinal, apply: func(row *R) { f.Assign(row, v) }}
}

// Assignment is a field and the value it gets.
type Assignment[R any] struct {
	ordinal int
	apply   func(*R)
}

func (p *Patch[R]) need(f *fold[R], _ occasion) error {
	if p.err != nil {
		return p.err
	}
	for _, s := range p.steps {
		if f.shape.isKey[s.field] {
			return fmt.Errorf("patch %s: field %s is part of the key", f.model.Name, f.model.Fields[s.field].Name)
		}
		if s.apply == nil {
			return fmt.Errorf("patch %s: field %s is not nullable, it can neither be cleared nor removed; set it",
				f.model.Name, f.model.Fields[s.field].Name)
		}
	}
	return f.needKey(p.key)
}

func (p *Patch[R]) eval(f *fold[R], at occasion) error {
	e := f.entry(p.key)
	if f.passed(e, at) {
		return nil
	}
	if err := f.identified(e, p.fill, at); err != nil {
		return err
	}
	exists := f.visible(e, at)
	var row R
	switch {
	case exists:
		row = f.codec.Clone(&e.row)
	case p.fill == nil:
		return fmt.Errorf("patch %s row %q: %w, and these ops have no Fill to create one", f.model.Name, e.key, errNoRow)
	default:
		p.fill(&row)
	}
	said := f.nothingSaid()
	for _, s := range p.steps {
		s.apply(&row)
		said[s.field] = s.mention
	}
	if err := f.sameKey(e, &row, at); err != nil {
		return err
	}
	f.stamp(e, &row, exists, at)
	indexes, err := f.patched(e, &row, exists, said, at)
	if err != nil {
		return err
	}
	f.write(e, row, indexes, at)
	return nil
}

// nothingSaid is a list of mentions by field that holds none, for one patch.
func (f *fold[R]) nothingSaid() []keys.FieldChange {
	if f.said == nil {
		f.said = make([]keys.FieldChange, len(f.model.Fields))
	}
	clear(f.said)
	return f.said
}
