package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// CheckFieldAccess returns an error if the caller may not read a field of the row. The rule is the field's own or, for
// a join without one, that of the field that holds its ids.
func CheckFieldAccess[P any](ctx context.Context, rt *Runtime, typ, field string, c *querydb.Codec[P], row *P) error {
	t := rt.reader.Catalog.Types[typ]
	v := rt.reader.Viewer(ctx)
	return v.CheckField(t, t.Fields[field], func() access.Owning {
		return owning(t.Owner >= 0 && v.Subject != "" && c.Value(row, t.Owner) == keys.String(v.Subject))
	})
}

// CheckPartAccess returns an error if the caller may not read a field of an object that stands in a row. owners look
// for that row among the fields that lead to the object: one for each type of rows that hold such objects.
func CheckPartAccess(
	ctx context.Context, rt *Runtime, o *catalog.Object, field string, owners ...OwnerCheck,
) error {
	v := rt.reader.Viewer(ctx)
	return v.CheckPart(o, field, func() access.Owning {
		return owning(v.Subject != "" &&
			slices.ContainsFunc(owners, func(owns OwnerCheck) bool { return owns(ctx, v.Subject) }))
	})
}

func owning(owns bool) access.Owning {
	if owns {
		return access.Own
	}
	return access.NotOwn
}

// OwnerCheck reports whether the row of one type that an object stands in names the subject as its owner.
type OwnerCheck func(ctx context.Context, subject string) bool

// OwnerIn makes the check of the rows of a codec, whose owner is in a field.
func OwnerIn[P any](c *querydb.Codec[P], owner int) OwnerCheck {
	return func(ctx context.Context, subject string) bool {
		for fc := graphql.GetFieldContext(ctx); fc != nil; fc = fc.Parent {
			switch row := fc.Result.(type) {
			case *P:
				return row != nil && c.Value(row, owner) == keys.String(subject)
			case **P:
				return *row != nil && c.Value(*row, owner) == keys.String(subject)
			}
		}
		return false
	}
}

func decode[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], rec record.Record) (*R, error) {
	row := new(R)
	err := c.Decode(rec, row)
	if err == nil {
		return row, nil
	}
	t := rt.reader.Catalog.Types[c.Model.Name]
	if known, filled, wrong := querydb.Fill(c.Model, rec); filled && wrong == nil && t != nil {
		if field, asks := rt.resolver.AsksUnknown(ctx, t, rec); asks {
			return nil, rt.reader.NotKnown(ctx, t, field)
		}
		row = new(R)
		if err = c.Decode(known, row); err == nil {
			return row, nil
		}
	}
	return nil, rt.reader.Errors().Internal(ctx, err, c.Model.Name)
}
