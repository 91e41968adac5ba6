package projectiontest

import (
	"reflect"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Rows are all rows of one model that there are in the end: see [RowsOf].
type Rows interface {
	model() *querydb.Model
	want() []any // in the order of their keys
	decode(row *querydb.Row) (any, error)
	name(row any) string // by its key
}

// RowsOf says that the rows, in any order, are all that the codec's model has in the end. A row that has expired by the
// time of the last event is not there.
func RowsOf[R any](codec *querydb.Codec[R], rows ...R) Rows { return &rowsOf[R]{codec, rows} }

type rowsOf[R any] struct {
	codec *querydb.Codec[R]
	rows  []R
}

func (r *rowsOf[R]) model() *querydb.Model { return r.codec.Model }

func (r *rowsOf[R]) want() []any {
	rows := slices.Clone(r.rows)
	key := func(row *R) keys.Key {
		k, err := querydb.KeyOf(r.codec, row)
		if err != nil {
			return keys.Key{} // the comparison will show the row
		}
		return k
	}
	slices.SortStableFunc(rows, func(a, b R) int { return compareKeys(key(&a), key(&b)) })
	all := make([]any, len(rows))
	for i := range rows {
		all[i] = rows[i]
	}
	return all
}

func (r *rowsOf[R]) decode(stored *querydb.Row) (any, error) {
	var row R
	err := r.codec.Decode(stored.Record, &row)
	return row, err
}

func (r *rowsOf[R]) name(row any) string { return rowName(r.codec.Model, reflect.ValueOf(row)) }
