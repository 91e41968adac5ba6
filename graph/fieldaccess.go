package graph

import (
	"context"
	"reflect"

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

// CheckPartAccess returns an error if the caller may not read a field of an object that stands in a row. rows are the
// types of rows that hold such objects: the one that the object stands in is the innermost of them on the way to it.
func CheckPartAccess(ctx context.Context, rt *Runtime, o *catalog.Object, field string, rows ...HoldingRow) error {
	v := rt.reader.Viewer(ctx)
	return v.CheckPart(o, field, func() access.Owning {
		return owning(v.Subject != "" && ownsHolder(ctx, rows, v.Subject))
	})
}

// ownsHolder reports whether the row that the object in hand stands in names the subject as its owner.
func ownsHolder(ctx context.Context, rows []HoldingRow, subject string) bool {
	for fc := graphql.GetFieldContext(ctx); fc != nil; fc = fc.Parent {
		result := resultOf(fc)
		for _, row := range rows {
			if is, owns := row(result, subject); is {
				return owns
			}
		}
	}
	return false
}

// resultOf is what has come of a field. That of an element of a list of an interface type is a pointer to it.
func resultOf(fc *graphql.FieldContext) any {
	if v := reflect.ValueOf(fc.Result); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Interface {
		return v.Elem().Interface()
	}
	return fc.Result
}

func owning(owns bool) access.Owning {
	if owns {
		return access.Own
	}
	return access.NotOwn
}

// HoldingRow reports whether what has come of a field is a row of one type, and whether that names the subject as its
// owner.
type HoldingRow func(result any, subject string) (is, owns bool)

// RowOf makes the HoldingRow of the rows of a codec, whose owner is in a field; -1 is of rows that have none.
func RowOf[P any](c *querydb.Codec[P], owner int) HoldingRow {
	return func(result any, subject string) (is, owns bool) {
		row, is := result.(*P)
		if !is {
			element, isElement := result.(**P)
			if !isElement {
				return false, false
			}
			row = *element
		}
		return true, row != nil && owner >= 0 && c.Value(row, owner) == keys.String(subject)
	}
}

func decode[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], rec record.Record) (*R, error) {
	row := new(R)
	err := c.Decode(rec, row)
	if err == nil {
		return row, nil
	}
	row = new(R)
	err = rt.decodeFilled(ctx, c.Model, rec, err, func(rec record.Record) error { return c.Decode(rec, row) })
	if err != nil {
		return nil, err
	}
	return row, nil
}

// decodeFilled decodes a record that could not be decoded as it is: with the fields that it does not know, where
// nothing that is asked for depends on them.
func (rt *Runtime) decodeFilled(ctx context.Context, m *querydb.Model, rec record.Record, err error,
	decode func(record.Record) error) error {
	t := rt.reader.Catalog.Types[m.Name]
	if known, filled, wrong := querydb.Fill(m, rec); filled && wrong == nil && t != nil {
		if field, asks := rt.resolver.AsksUnknown(ctx, t, rec); asks {
			return rt.reader.NotKnown(ctx, t, field)
		}
		if err = decode(known); err == nil {
			return nil
		}
	}
	return rt.reader.Errors().Internal(ctx, err, m.Name)
}
