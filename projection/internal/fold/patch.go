package fold

import (
	"fmt"

	"github.com/foldql/foldql/keys"
)

// Patch is a partial write, evaluated after [keys.IndexHalf.UpdateForPatch]. It is an Op.
type Patch[R any] struct {
	target
	fill    func(*R)
	changes []fieldChange[R]
}

// fieldChange is what a Patch says of one field.
type fieldChange[R any] struct {
	mention keys.FieldChange
	field   int
	apply   func(*R) // nil where the field cannot be null
}

// NewPatch makes a Patch that changes nothing. It creates rows with fill, or none without it.
func NewPatch[R any](t Target, fill func(*R)) Patch[R] {
	return Patch[R]{target: t.internal(), fill: fill}
}

// Extend has a Patch change a field too. What is said last of a field counts.
func Extend[R any](p *Patch[R], m keys.FieldChange, field int, apply func(*R)) {
	p.changes = append(p.changes, fieldChange[R]{m, field, apply})
}

func (p *Patch[R]) need(f *modelFold[R], _ ApplyPoint) error {
	if p.err != nil {
		return p.err
	}
	for _, s := range p.changes {
		if f.traits.isKey[s.field] {
			return fmt.Errorf("patch %s: field %s is part of the key", f.desc.Name, f.desc.Fields[s.field].Name)
		}
		if s.apply == nil {
			return fmt.Errorf("patch %s: field %s is not nullable, it can neither be cleared nor removed; set it",
				f.desc.Name, f.desc.Fields[s.field].Name)
		}
	}
	if err := p.needSources(f); err != nil {
		return err
	}
	return f.needKey(p.key)
}

// needSources asks for the rows that the patch makes the row refer to.
func (p *Patch[R]) needSources(f *modelFold[R]) error {
	if len(f.refs.all) == 0 {
		return nil
	}
	var row R
	for _, s := range p.changes {
		s.apply(&row)
	}
	return f.refs.needSources(&row)
}

func (p *Patch[R]) eval(f *modelFold[R], at ApplyPoint) error {
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
		return fmt.Errorf("patch %s row %q: %w, and these ops have no Fill to create one", f.desc.Name, e.key, ErrNoRow)
	default:
		p.fill(&row)
	}
	said := f.nothingSaid()
	for _, s := range p.changes {
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
	f.write(e, row, indexes, !exists, at)
	return nil
}
