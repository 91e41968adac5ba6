package trial

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Texts and times that rows and arguments are made of: few, so that they meet.
var (
	texts = []string{"ann", "bob", "a/b", "x%", "a|b", "✓ \"", "~current"}
	times = []string{"2024-01-02T10:00:00Z", "2024-01-03T12:00:00.000+02:00", "2024-03-01T00:00:00.5Z", "2024-01-01"}
)

// row is a row of any model, by field name.
type row map[string]any

// object is an object in a row: the values of its fields.
type object []any

// codec writes rows of a model. Nobody reads them by it.
func codec(m *querydb.Model) *querydb.Codec[row] {
	return &querydb.Codec[row]{
		Model: m,
		Encode: func(b *record.Builder, r *row) {
			for _, f := range m.Fields {
				encode(b, (*r)[f.Name])
			}
		},
		Value:   func(r *row, field int) keys.Value { return valueOf(m.Fields[field], (*r)[m.Fields[field].Name]) },
		Clone:   func(r *row) row { return *r },
		Time:    func(*row, int) time.Time { return time.Time{} },
		SetTime: func(*row, int, time.Time) {},
	}
}

func valueOf(f driver.Field, v any) keys.Value {
	switch v := v.(type) {
	case string:
		switch f.Scalar {
		case "Decimal":
			return keys.DecimalOf(keys.Decimal(v))
		case "Date":
			return keys.DateOf(keys.Date(v))
		}
		return keys.String(v)
	case bool:
		return keys.Boolean(v)
	case int:
		return keys.Int(int64(v))
	case int64:
		return keys.Int(v)
	case float64:
		return keys.Float(v)
	case time.Time:
		return keys.DateTime(v)
	}
	return keys.Value{}
}

func encode(b *record.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.Null()
	case string:
		b.String(v)
	case bool:
		b.Boolean(v)
	case int:
		b.Int(v)
	case int64:
		b.Int64(v)
	case float64:
		b.Float(v)
	case time.Time:
		b.DateTime(v)
	case object:
		b.BeginObject()
		for _, field := range v {
			encode(b, field)
		}
		b.EndObject()
	case []any:
		b.BeginList()
		for _, elem := range v {
			encode(b, elem)
		}
		b.EndList()
	default:
		panic(fmt.Sprintf("no encoding of %T", v))
	}
}

// fill writes random rows of every model, and remembers them.
func (t *trial) fill() error {
	var b record.Builder
	for _, name := range t.typeNames() {
		m := t.Catalog.Types[name].Model
		for range 25 {
			r := t.row(name)
			encoded, err := querydb.Encode(codec(m), &b, &r)
			if err == nil && m.Aggregate != nil {
				err = m.Decompose(&encoded)
			}
			if err != nil {
				return fmt.Errorf("encode a row of %s: %w", name, err)
			}
			if slices.ContainsFunc(t.rows[name], func(s stored) bool { return s.at.Key == encoded.Key }) {
				continue
			}
			err = t.db.Apply(t.ctx, querydb.Batch{
				Writes: []querydb.Write{{Model: m, Row: encoded}}, Atomic: m.Aggregate != nil,
			})
			if errors.Is(err, querydb.ErrInvalid) {
				continue // an empty key
			}
			if err != nil {
				return fmt.Errorf("write a row of %s: %w", name, err)
			}
			t.rows[name] = append(t.rows[name], stored{name, r, encoded})
		}
	}
	return nil
}

// row is a random row of a type.
func (t *trial) row(typ string) row {
	m := t.Catalog.Types[typ].Model
	if m.Aggregate != nil {
		return parts{t.rng, t.schema}.whole(m)
	}
	r := row{}
	for _, f := range m.Fields {
		if shown := t.schema.Types[typ].Fields.ForName(f.Name); shown != nil { // else it is hidden
			f.Nullable = !shown.Type.NonNull // copies are filled in
		}
		if v := value(t.rng, t.schema, f); v != nil {
			r[f.Name] = v
		}
	}
	if len(m.PK.Fields) > 1 && m.Entity == nil {
		setTexts(m, r, t.rng, t.rows[m.Name])
	}
	return r
}

// setTexts gives the fields that hold texts of composite keys the key of the row itself, and keys of other rows.
func setTexts(m *querydb.Model, r row, rng *rand.Rand, rows []stored) {
	own, err := querydb.KeyOf(codec(m), &r)
	if err != nil {
		return
	}
	text := func() string {
		if len(rows) > 0 && rng.IntN(4) > 0 {
			return rows[rng.IntN(len(rows))].at.Key.PK
		}
		return texts[rng.IntN(len(texts))]
	}
	r["own"], r["any"] = own.PK, text()
	r["several"] = []any{text(), text(), own.PK}
}

func value(rng *rand.Rand, s *ast.Schema, f driver.Field) any {
	if f.Nullable && rng.IntN(4) == 0 {
		return nil
	}
	if f.List {
		list := []any{}
		for range rng.IntN(4) {
			list = append(list, one(rng, s, f))
		}
		return list
	}
	return one(rng, s, f)
}

// one is a value that is no list, or an element of one.
func one(rng *rand.Rand, s *ast.Schema, f driver.Field) any {
	if f.Object == nil {
		return scalar(rng, s, f)
	}
	var o object
	for _, field := range f.Object {
		o = append(o, value(rng, s, field))
	}
	return o
}

func scalar(rng *rand.Rand, s *ast.Schema, f driver.Field) any {
	if f.Enum != "" {
		values := s.Types[f.Enum].EnumValues
		return values[rng.IntN(len(values))].Name
	}
	switch f.Scalar {
	case "Boolean":
		return rng.IntN(2) == 0
	case "Int":
		return rng.IntN(4)
	case "Int64":
		return rng.Int64N(4)
	case "Float":
		return float64(rng.IntN(4)) * 1.5
	case "Decimal":
		return []string{"0", "1.5", "-2"}[rng.IntN(3)]
	case "Date":
		return []string{"2024-01-02", "2024-01-03"}[rng.IntN(2)]
	case "DateTime":
		at, err := time.Parse(time.RFC3339, times[rng.IntN(3)])
		if err != nil {
			panic(err)
		}
		return at.UTC()
	}
	return texts[rng.IntN(len(texts))]
}
