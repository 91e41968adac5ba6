package fold

import (
	"slices"

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
