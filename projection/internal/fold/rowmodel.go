package fold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// rowModel is what the fold knows of a model and its rows beforehand.
type rowModel[R any] struct {
	codec  *querydb.Codec[R]
	desc   *querydb.Model
	traits traits
}

func newRowModel[R any](codec *querydb.Codec[R], w *querydb.Writer) *rowModel[R] {
	return &rowModel[R]{codec, codec.Model, traitsOf(codec.Model, w)}
}

// visible reports whether there is a row for the event: one that has expired is gone.
func (m *rowModel[R]) visible(e *entry[R], at ApplyPoint) bool {
	return e.present && m.lasts(&e.row, at)
}

// lasts reports whether a row has not expired.
func (m *rowModel[R]) lasts(row *R, at ApplyPoint) bool {
	if m.desc.TTL < 0 {
		return true
	}
	expires := m.codec.Time(row, m.desc.TTL)
	return expires.IsZero() || expires.After(at.Watermark)
}

// stamped returns the row that an op brings with the time of the event in its key, and the key, where the key holds
// such a field; any other row as it is.
func (m *rowModel[R]) stamped(row R, key keys.Key, at ApplyPoint) (R, keys.Key, error) {
	if !m.traits.stampedKey {
		return row, key, nil
	}
	for _, field := range [...]int{m.desc.CreatedAt, m.desc.UpdatedAt} {
		if field >= 0 {
			m.codec.SetTime(&row, field, at.Time)
		}
	}
	key, err := querydb.KeyOf(m.codec, &row)
	return row, key, err
}

// stamp gives the row that is to be written over an entry the times of its first and its last write. Keys of indexes
// may be made of them, and are judged after that.
func (m *rowModel[R]) stamp(e *entry[R], row *R, exists bool, at ApplyPoint) {
	if c := m.desc.CreatedAt; m.traits.stamps[0] {
		created := at.Time
		if exists {
			created = m.codec.Time(&e.row, c)
		}
		m.codec.SetTime(row, c, created)
	}
	if u := m.desc.UpdatedAt; m.traits.stamps[1] {
		m.codec.SetTime(row, u, at.Time)
	}
}

// stamps reports whether the field is one that stamp fills.
func (m *rowModel[R]) stamps(field int) bool {
	return m.traits.stamps[0] && field == m.desc.CreatedAt || m.traits.stamps[1] && field == m.desc.UpdatedAt
}

func (m *rowModel[R]) sameKeyFields(a, b *R) bool {
	for field, isKey := range m.traits.isKey {
		if isKey && m.codec.Value(a, field) != m.codec.Value(b, field) {
			return false
		}
	}
	return true
}

// samePartition reports whether rows under the same partition key are of the same id, and not of two that differ in
// casing.
func (m *rowModel[R]) samePartition(a, b *R) bool {
	return !m.traits.collides || !slices.ContainsFunc(m.desc.PK.Fields, func(field int) bool {
		return m.codec.Value(a, field) != m.codec.Value(b, field)
	})
}

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
