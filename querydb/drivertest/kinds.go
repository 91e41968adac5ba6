package drivertest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// values are the fields of a row of any kinds, by name: a Go value of the field's type, a list of them, or nothing.
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
	r.Record = finished(&b)
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

// kindsTable has fields of all kinds, alone and in lists, and keys made of most of them.
var kindsTable = func() *driver.Table {
	t := &driver.Table{Name: "Kinds", Sorted: true, Fields: []driver.Field{{Name: "id", Scalar: "ID"},
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

// kinds are values that are easily lost on the way: at the ends of their range, in another form than they may come back
// in, or empty.
var kinds = map[string][]any{
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

// kindRows are rows that have all kinds of values between them: one has none, each other one of every kind, alone and
// in a list. Which row has which changes with the round.
func kindRows(round int) (rows []driver.Row) {
	most := 0
	for _, list := range kinds {
		most = max(most, len(list))
	}
	for n := range most + 1 {
		v := values{"id": "kinds", "number": int64(n-3) * 1_000_000_007}
		for kind, list := range kinds {
			if i := (n + round) % (most + 1); i < most {
				v["one"+kind] = list[i%len(list)]
				v["many"+kind] = append([]any{}, list[:i%(len(list)+1)]...)
			}
		}
		rows = append(rows, v.row(kindsTable))
	}
	return rows
}

// fieldKinds puts rows and then, under the same keys, the fields of others: nothing of the former stays.
func fieldKinds(s *store) {
	for round := range 2 {
		rows := kindRows(round)
		s.put(shuffled(rows)...)
		var ks []keys.Key
		for _, row := range rows {
			ks = append(ks, row.Key)
		}
		if diff := difference(rows, s.get(ks...)); diff != "" {
			s.Errorf("get: %s", diff)
		}
		if diff := difference(rows, s.query(s.all(driver.Primary, "kinds")).Rows); diff != "" {
			s.Errorf("query: %s", diff)
		}
		for _, row := range rows {
			s.wantInIndexes(row)
		}
	}
}

// wantInIndexes wants the row in the indexes that it is in, with what each projects.
func (s *store) wantInIndexes(row driver.Row) {
	s.Helper()
	for i := range s.table.Indexes {
		x, k := &s.table.Indexes[i], &row.Indexes[i]
		if !k.InIndex(x) {
			continue
		}
		q := s.all(i, k.PK)
		if k.HasSK {
			q.Range = keys.Range{Op: keys.RangeEqual, Lo: k.SK}
		}
		found := false
		for _, got := range s.query(q).Rows {
			if got.Key == row.Key {
				found = true
				wantProjected(s, x, &row, &got)
			}
		}
		if !found {
			s.Errorf("index %s has no row %q under %q", x.Name, row.Key, k.Key)
		}
	}
}

// numberKeys has sort keys and index keys made of numbers: rows stand in the order of the numbers.
func numberKeys(s *store) {
	numbers := []int64{math.MinInt64, -1_000_000, -10, -9, -1, 0, 1, 9, 10, 1 << 40, math.MaxInt64}
	var rows []driver.Row
	for i, n := range numbers {
		rows = append(rows, values{
			"id": "numbers", "number": n, "oneBoolean": true, "oneColor": "RED", "oneDecimal": "0", "oneInt": i, "oneInt64": n,
			"oneDateTime": time.Unix(int64(i), 0),
		}.row(s.table))
	}
	s.put(shuffled(rows)...)
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
	want("by the sort key", s.query(s.all(driver.Primary, "numbers")).Rows, 0)
	q := s.all(driver.Primary, "numbers")
	q.Range = keys.Range{Op: keys.RangeAtLeast, Lo: keyText(int64(-9))}
	want("from -9 on", s.query(q).Rows, 3)
	want("by an index", s.query(s.all(1, "true#RED")).Rows, 0)
}

// namesTable has fields whose names a store may have uses for, a key field of another name, and key fields elsewhere.
var namesTable = &driver.Table{
	Name: "Names", Sorted: true, PK: []int{0, 1}, SK: []int{2},
	Fields: func() (list []driver.Field) {
		for _, name := range []string{"status", "pk", "id", "_id", "_subId", "_ttl", "_rev", "_pos", "_own",
			"_deleted", "_expires",
			"name", "size", "key", "select", "_", "_upside_pk", "kind", "_kind", "expires", "position", "record",
			"value", "a__b"} {
			list = append(list, driver.Field{Name: name, Scalar: "String"})
		}
		return list
	}(),
	Indexes: []driver.Index{
		// the keys of the table, the other way round
		{Name: "upside", PK: []int{2}, SK: []int{0, 1}, Projected: []int{0, 1, 2, 5}},
		{Name: "own", PK: []int{2}, Projected: []int{0, 1, 2}},
		{Name: "x", PK: []int{0}, SK: []int{5}}, // a field of the key, and one that others have too
		{Name: "y", PK: []int{5}, SK: []int{6}},
	},
}

// fieldNames puts rows of which every field has a value of its own, and changes and deletes them.
func fieldNames(s *store) {
	row := func(n int) driver.Row {
		f := fields{}
		for i, field := range s.table.Fields {
			f[i] = field.Name + strconv.Itoa(n)
		}
		f[0], f[1], f[2] = "a", "b", "c"
		r := f.row(s.table)
		r.Position = driver.Position{Partition: "p", Offset: uint64(n)}
		r.Expires = epoch.Add(time.Duration(n))
		return r
	}
	for n := 1; n < 3; n++ {
		s.wantWhole(row(n))
		s.wantInIndexes(row(n))
	}
	gone := driver.Row{Key: row(1).Key, Position: driver.Position{Partition: "p", Offset: 3}}
	s.apply(driver.Batch{Writes: []driver.Write{{Table: s.table, Kind: driver.Delete, Row: gone}}})
	for i, k := range row(2).Indexes {
		if got := s.query(s.all(i, k.PK)).Rows; len(got) != 0 {
			s.Errorf("index %s has the row that was deleted", s.table.Indexes[i].Name)
		}
	}
}

// wideTable has many fields.
var wideTable = func() *driver.Table {
	t := &driver.Table{Name: "Wide", PK: []int{0}, Fields: []driver.Field{{Name: "id", Scalar: "ID"}}}
	for i := range 300 {
		scalar := []string{"String", "Int", "Boolean", "Decimal"}[i%4]
		t.Fields = append(t.Fields, driver.Field{Name: fmt.Sprintf("field%d", i), Scalar: scalar, Nullable: true,
			List: i%7 == 0})
	}
	t.Indexes = []driver.Index{{Name: "last", PK: []int{297}, SK: []int{293}, Projected: []int{0, 1, 100, 200}}}
	return t
}()

func wideRows(s *store) {
	for round := range 3 { // in which other fields are null
		v := values{"id": "wide"}
		for i, f := range s.table.Fields[1:] {
			if i%3 == round {
				continue
			}
			var value any
			switch f.Scalar {
			case "String":
				value = strings.Repeat(f.Name, round)
			case "Int":
				value = i * round
			case "Boolean":
				value = round == 1
			default:
				value = fmt.Sprintf("%d.%d", i, round)
			}
			if f.List {
				value = []any{value, value}
			}
			v[f.Name] = value
		}
		row := v.row(s.table)
		row.Position = driver.Position{Partition: "p", Offset: uint64(round + 1)}
		s.wantWhole(row)
		s.wantInIndexes(row)
	}
}
