package reads

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/record"
)

// values are the fields of a row of any scalars, by name: a Go value of the field's type, a list of them, or nothing.
type values map[string]any

// row makes a row of a table. A half of a key is composed of the texts of its fields, numbers so that they sort.
func (v values) row(t *driver.Table) driver.Row {
	var r driver.Row
	r.Key.PK, _ = v.compose(t, t.PK)
	r.Key.SK, _ = v.compose(t, t.SK)
	for i := range t.Indexes {
		var k driver.IndexKey
		k.PK, k.HasPK = v.compose(t, t.Indexes[i].PK)
		k.SK, k.HasSK = v.compose(t, t.Indexes[i].SK)
		r.Indexes = append(r.Indexes, k)
	}
	var b record.Builder
	b.Begin(len(t.Fields))
	for _, f := range t.Fields {
		appendValue(&b, f.Scalar, v[f.Name])
	}
	r.Record = fixture.Finish(&b)
	return r
}

func (v values) compose(t *driver.Table, half []int) (text string, there bool) {
	var parts []string
	for _, f := range half {
		part := keyText(v[t.Fields[f].Name])
		if part == "" {
			return "", false
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "#"), len(half) > 0
}

// keyText is a value as a key has it.
func keyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int:
		return keyText(int64(v))
	case int64:
		return fmt.Sprintf("%020d", uint64(v)^(1<<63))
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

func appendValue(b *record.Builder, scalar string, v any) {
	switch v := v.(type) {
	case nil:
		b.Null()
	case []any:
		b.BeginList()
		for _, e := range v {
			appendValue(b, scalar, e)
		}
		b.EndList()
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
	case string:
		b.String(v)
	default:
		panic(fmt.Sprintf("drivertest: no field holds a %T", v))
	}
}

// scalarsTable has fields of all scalars, alone and in lists, and keys made of most of them.
var scalarsTable = func() *driver.Table {
	t := &driver.Table{Name: "Scalars", Sorted: true, Fields: []driver.Field{{Name: "id", Scalar: "ID"},
		{Name: "number", Scalar: "Int64"}}}
	ordinal := map[string]int{}
	add := func(f driver.Field) {
		f.Nullable = true
		ordinal[f.Name] = len(t.Fields)
		t.Fields = append(t.Fields, f)
	}
	for _, scalar := range []string{"ID", "String", "Boolean", "Int", "Int64", "Float", "Decimal", "Date", "DateTime"} {
		add(driver.Field{Name: "one" + scalar, Scalar: scalar})
		add(driver.Field{Name: "many" + scalar, Scalar: scalar, List: true})
	}
	add(driver.Field{Name: "oneColor", Scalar: "String", Enum: "Color"})
	add(driver.Field{Name: "manyColor", Scalar: "String", Enum: "Color", List: true})
	half := func(names ...string) (list []int) {
		for _, n := range names {
			list = append(list, ordinal["one"+n])
		}
		return list
	}
	t.PK, t.SK = []int{0}, []int{1}
	t.Indexes = []driver.Index{
		{Name: "byNumber", PK: half("Int64"), SK: half("DateTime")},
		{Name: "byColor", PK: half("Boolean", "Color"), SK: half("Decimal", "Int"), Projected: append([]int{0, 1},
			half("Int", "Float", "Decimal", "DateTime")...)},
		{Name: "byDate", PK: half("Date"), SK: half("Float"), Projected: []int{0, 1}},
	}
	return t
}()

// scalarValues are values that are easily lost on the way: at the ends of their range, in another form than they may
// come back in, or empty.
var scalarValues = map[string][]any{
	"ID": {"1", "007", "\u00fcber", "x\x00y"},
	"String": {"", " ", "\"\\\n\t\u2028<&>\x00\x7f", "\ufffd\uffff\U0010ffff", strings.Repeat("long ", 1000),
		"null", "0"},
	"Boolean": {true, false},
	"Int":     {0, -1, math.MaxInt32, math.MinInt32},
	"Int64":   {int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), int64(1 << 53), int64(-1<<53 - 1)},
	"Float": {
		0.0, math.Copysign(0, -1), 1.0, -1.5, 0.1, 1e300, -1e300, 1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64,
		1e21, 1e20, 123456789012345680.0, 1e-7, 1e125, 9.9e125, 1e126, 1e-130, 1e-131, 1.0 / 3,
	},
	"Decimal": {
		"0", "-0", "1.50", "1.500000", "-12", "100", "1e3", "0.1", "12345678901234567890123456789012345678", // 38 digits
		"123456789012345678901234567890123456789", "123456789012345678901234567890.123456789012345678901234567890",
		"-0.000000000000000000000000000000000000000000000000000000000001",
	},
	"Date": {"2024-02-29", "0001-01-01", "9999-12-31"},
	"DateTime": {
		time.Date(2024, 1, 15, 10, 30, 0, 123456789, time.UTC), time.Date(2024, 1, 15, 10, 30, 0, 120000000, time.UTC),
		time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(9999, 12, 31,
			23, 59, 59, 999999999, time.UTC),
	},
	"Color": {"RED", "GREEN", "null"},
}

// scalarRows are rows that have all values between them: one has none, each other one of every scalar, alone and in a
// list. Which row has which changes with the round.
func scalarRows(round int) (rows []driver.Row) {
	most := 0
	for _, list := range scalarValues {
		most = max(most, len(list))
	}
	for n := range most + 1 {
		v := values{"id": "scalars", "number": int64(n-3) * 1_000_000_007}
		for scalar, list := range scalarValues {
			if i := (n + round) % (most + 1); i < most {
				v["one"+scalar] = list[i%len(list)]
				v["many"+scalar] = append([]any{}, list[:i%(len(list)+1)]...)
			}
		}
		rows = append(rows, v.row(scalarsTable))
	}
	return rows
}

// everyScalar puts rows and then, under the same keys, the fields of others: nothing of the former stays.
func everyScalar(s *harness.Store) {
	for round := range 2 {
		rows := scalarRows(round)
		s.Put(shuffled(rows)...)
		var ks []keys.Key
		for _, row := range rows {
			ks = append(ks, row.Key)
		}
		if diff := harness.Difference(rows, s.Get(ks...)); diff != "" {
			s.Errorf("get: %s", diff)
		}
		if diff := harness.Difference(rows, s.Query(s.All(driver.Primary, "scalars")).Rows); diff != "" {
			s.Errorf("query: %s", diff)
		}
		for _, row := range rows {
			wantInIndexes(s, row)
		}
	}
}

// numberKeys has sort keys and index keys made of numbers: rows stand in the order of the numbers.
func numberKeys(s *harness.Store) {
	numbers := []int64{math.MinInt64, -1_000_000, -10, -9, -1, 0, 1, 9, 10, 1 << 40, math.MaxInt64}
	var rows []driver.Row
	for i, n := range numbers {
		rows = append(rows, values{
			"id": "numbers", "number": n, "oneBoolean": true, "oneColor": "RED", "oneDecimal": "0", "oneInt": i, "oneInt64": n,
			"oneDateTime": time.Unix(int64(i), 0),
		}.row(s.Table))
	}
	s.Put(shuffled(rows)...)
	want := func(what string, rows []driver.Row, from int) {
		for i, row := range rows {
			if n, _ := record.Int64(row.Record.JSON(1)); n != numbers[from+i] {
				s.Errorf("%s: row %d is %d, want %d", what, i, n, numbers[from+i])
			}
		}
		if len(rows) != len(numbers)-from {
			s.Errorf("%s: %d rows, want %d", what, len(rows), len(numbers)-from)
		}
	}
	want("by the sort key", s.Query(s.All(driver.Primary, "numbers")).Rows, 0)
	q := s.All(driver.Primary, "numbers")
	q.Range = keys.Range{Op: keys.RangeAtLeast, Lo: keyText(int64(-9))}
	want("from -9 on", s.Query(q).Rows, 3)
	want("by an index", s.Query(s.All(1, "true#RED")).Rows, 0)
}
