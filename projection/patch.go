package projection

import (
	"fmt"
	"slices"
)

// Patch is a partial write; it is an Op. Its steps take effect in the order in which they were called.
type Patch[R any] struct {
	target
	fill  func(*R)
	steps []step[R]
}

// step is one field of a Patch.
type step[R any] struct {
	kind  stepKind
	field int
	apply func(*R) // nil where the field cannot be null
}

type stepKind uint8

const (
	stepSet stepKind = iota
	stepClear
	stepRemove
)

// Set gives fields values.
func (p *Patch[R]) Set(fields ...Assignment[R]) *Patch[R] {
	for _, a := range fields {
		p.steps = append(p.steps, step[R]{stepSet, a.ordinal, a.apply})
	}
	return p
}

// Clear leaves the fields without a value; the policy of each index half decides what becomes of its key: the half
// keeps its stored key until it can be composed anew.
func (p *Patch[R]) Clear(fields ...FieldRef[R]) *Patch[R] { return p.without(stepClear, fields) }

// Remove takes the fields away, and the row out of every index half that they belong to.
func (p *Patch[R]) Remove(fields ...FieldRef[R]) *Patch[R] { return p.without(stepRemove, fields) }

func (p *Patch[R]) without(kind stepKind, fields []FieldRef[R]) *Patch[R] {
	for _, f := range fields {
		ordinal, reset := f.ref()
		p.steps = append(p.steps, step[R]{kind, ordinal, reset})
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
	if e.seen.passed(at) {
		return nil
	}
	exists := f.visible(e, at)
	var row R
	var kept keptKeys
	switch {
	case exists:
		row, kept = f.codec.Clone(&e.row), slices.Clone(e.kept)
	case p.fill == nil:
		return fmt.Errorf("patch %s row %q: there is no such row, and these ops have no Fill to create one",
			f.model.Name, e.key)
	default:
		p.fill(&row)
	}
	for _, s := range p.steps {
		if err := p.take(f, s, &row, &kept); err != nil {
			return err
		}
	}
	if err := f.sameKey(e, &row); err != nil {
		return err
	}
	f.write(e, row, kept, exists, at)
	return nil
}

// take applies one step. A half that the step leaves without its composite keeps the key that it has now, or loses it.
func (p *Patch[R]) take(f *fold[R], s step[R], row *R, kept *keptKeys) error {
	halves := f.shape.halvesOf[s.field]
	if len(halves) == 0 {
		s.apply(row)
		return nil
	}
	if s.kind == stepRemove {
		kept.drop(halves)
		s.apply(row)
		return nil
	}
	before := *row
	s.apply(row)
	if f.codec.Value(row, s.field).Present() {
		kept.drop(f.whole(halves, row))
		return nil
	}
	return f.keep(halves, &before, kept)
}
