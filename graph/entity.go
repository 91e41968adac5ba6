package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// isEntity reports whether rows of the type share their table with others: its queries then take the parts of keys by
// their own names and as values of their own types.
func (t *Type) isEntity() bool { return t.Model.Entity != nil }

// lookUpEntity reads the row under a whole key of the table, or of a unique index.
func (rt *Runtime) lookUpEntity(ctx context.Context, q *Query, t *Type, pk string, r *request) (record.Record, error) {
	at := spot{Key: keys.Key{PK: pk}}
	if _, half := q.halves(t.Model); half.Layout.Exists() {
		var err error
		if at.SK, err = half.Layout.Compose(r.sk...); err != nil {
			return nil, operandError(q, err)
		}
	}
	return rt.first(ctx, target{typ: t, via: q.Index}, at, r.fields, r.consistent, nil)
}

// selectRows finds the sort keys that the arguments of a query of an entity select.
func (q *Query) selectRows(sk querydb.Half, r *request, dbq *querydb.Query) error {
	if !sk.Layout.Exists() {
		return nil
	}
	given := q.leading(r.sk)
	where, err := sk.Layout.Read(keys.CountLeading(given), r.page.Where)
	if err != nil {
		return err
	}
	ranges, err := sk.Layout.Select(given, where)
	switch {
	case err != nil:
		return err
	case len(ranges) == 1:
		dbq.Range = ranges[0]
	default:
		dbq.Ranges = ranges
	}
	return nil
}

// leading are the values of the parts of a sort key. A part of the partition key is always given, and no reason to ask for
// those before it: after one that is not given it counts as not given either.
func (q *Query) leading(sk []keys.Value) []keys.Value {
	given, missing := slices.Clone(sk), false
	for i := range given {
		missing = missing || !given[i].Present()
		if missing && slices.ContainsFunc(q.PK, func(a Arg) bool { return a.Name == q.SK[i].Name }) {
			given[i] = keys.Value{}
		}
	}
	return given
}
