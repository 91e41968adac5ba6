package projection

import (
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// identical fails where another row than the one given is under the key of an entry: one whose key fields are others, and
// differ in casing alone.
func (f *fold[R]) identical(e *entry[R], row *R) error {
	if !f.shape.meets {
		return nil
	}
	there := e.others
	if e.present {
		there = &e.row
	}
	if there == nil || f.sameKeyFields(there, row) {
		return nil
	}
	return fmt.Errorf("%w: %s row %q is there already, and its key fields have other values of the same key",
		querydb.ErrConflict, f.model.Name, e.key)
}

// identified is identical for the row whose key fields fill sets. Ops that have no such function are taken at their word.
func (f *fold[R]) identified(e *entry[R], fill func(*R)) error {
	if !f.shape.meets || fill == nil {
		return nil
	}
	var row R
	fill(&row)
	return f.identical(e, &row)
}
