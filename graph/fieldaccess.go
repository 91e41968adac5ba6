package graph

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// CheckFieldAccess returns an error if the caller may not read a field of the row. The rule is the field's own or, for
// a join without one, that of the field that holds its ids.
func CheckFieldAccess[P any](ctx context.Context, rt *Runtime, typ, field string, c *querydb.Codec[P], row *P) error {
	t := rt.reader.Catalog.Types[typ]
	v := rt.reader.Viewer(ctx)
	return v.CheckField(t, t.Fields[field], func() bool {
		return t.Owner >= 0 && v.Subject != "" && c.Value(row, t.Owner) == keys.String(v.Subject)
	})
}

func decode[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], rec record.Record) (*R, error) {
	row := new(R)
	if err := c.Decode(rec, row); err != nil {
		return nil, rt.reader.Errors().Internal(ctx, err, c.Model.Name)
	}
	return row, nil
}
