package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

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
	return rt.first(ctx, target{typ: t, via: q.Index}, at, r.fields, r.consistent)
}

// selectRows finds the sort keys that the arguments of a query of an entity select.
func (q *Query) selectRows(sk querydb.Half, r *request, dbq *querydb.Query) error {
	if !sk.Layout.Exists() {
		return nil
	}
	given := q.leading(r.sk)
	where, err := ofKind(sk.Layout, keys.Lead(given), r.page.Where)
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

// ofKind reads the text of conditions as values of the field that they are about. They are text where the query could have
// them on fields of several types.
func ofKind(l keys.Layout, field int, c keys.Condition) (keys.Condition, error) {
	if field >= len(l.Segments) || l.Segments[field].Kind == keys.KindString {
		return c, nil
	}
	for _, operand := range [...]struct {
		name  string
		value *keys.Value
	}{{"eq", &c.Eq}, {"from", &c.From}, {"to", &c.To}} {
		if operand.value.Kind() != keys.KindString {
			continue
		}
		text, s := operand.value.Text(), l.Segments[field]
		read, ok := parseValue(s.Kind, text)
		if !ok {
			return c, &keys.OperandError{Args: []string{operand.name}, Reason: fmt.Sprintf("%s: %.40q is not a value of %s", operand.name, text, s.Field)}
		}
		*operand.value = read
	}
	return c, nil
}

// parseValue reads a value of a kind. Numbers are written as in JSON, which leaves out what Go reads besides.
func parseValue(kind keys.Kind, text string) (keys.Value, bool) {
	switch kind {
	case keys.KindBoolean:
		return keys.Boolean(text == "true"), text == "true" || text == "false"
	case keys.KindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		return keys.Int(n), err == nil && json.Valid([]byte(text))
	case keys.KindFloat:
		f, err := strconv.ParseFloat(text, 64)
		return keys.Float(f), err == nil && json.Valid([]byte(text))
	case keys.KindDecimal:
		d, err := keys.ParseDecimal(text)
		return keys.DecimalOf(d), err == nil
	case keys.KindDate:
		d, err := keys.ParseDate(text)
		return keys.DateOf(d), err == nil
	case keys.KindDateTime:
		t, err := keys.ParseDateTime(text)
		return keys.DateTime(t), err == nil
	}
	return keys.String(text), true
}
