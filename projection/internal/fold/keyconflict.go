package fold

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/querydb"
)

// identical fails where another row than the one given is under the key of an entry: one whose key fields are others,
// and differ in casing alone. A row that has expired is no row.
func (m *rowModel[R]) identical(e *entry[R], row *R, at ApplyPoint) error {
	if !m.traits.collides {
		return nil
	}
	there := e.others
	switch {
	case m.visible(e, at):
		there = &e.row
	case e.present || !e.end.IsZero() && !e.end.After(at.Watermark):
		there = nil
	}
	if there == nil || m.sameKeyFields(there, row) {
		return nil
	}
	return fmt.Errorf("%w: %s row %q is there already, of another id: %s",
		querydb.ErrConflict, m.desc.Name, e.key, m.difference(there, row))
}

// difference says in which fields of the key two rows under one key differ, and why that makes one key: by casing, or
// by a separator within a value that is not escaped.
func (m *rowModel[R]) difference(there, row *R) string {
	for field, isKey := range m.traits.isKey {
		a, b := m.codec.Value(there, field).AsString(), m.codec.Value(row, field).AsString()
		switch {
		case !isKey || a == b:
		case strings.EqualFold(a, b):
			return fmt.Sprintf("its %s is %q and that of the event is %q, which differ in casing alone, and the casing of "+
				"the key makes them one", m.desc.Fields[field].Name, a, b)
		default:
			return fmt.Sprintf("its %s is %q and that of the event is %q, which are joined to one key, "+
				"because the key escapes no separator", m.desc.Fields[field].Name, a, b)
		}
	}
	return "their keys are one"
}

// identified is identical for the row whose key fields fill sets. Ops that have no such function are taken at their
// word.
func (m *rowModel[R]) identified(e *entry[R], fill func(*R), at ApplyPoint) error {
	if !m.traits.collides || fill == nil {
		return nil
	}
	var row R
	fill(&row)
	return m.identical(e, &row, at)
}
