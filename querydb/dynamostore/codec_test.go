package dynamostore

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// everything has a field of every type, and lists of them.
var everything = func() *driver.Table {
	t := &driver.Table{Name: "Everything", PK: []int{0}}
	for _, scalar := range []string{"ID", "String", "Boolean", "Int", "Int64", "Float", "Decimal", "Date", "DateTime"} {
		t.Fields = append(t.Fields, driver.Field{Name: "f" + scalar, Scalar: scalar, Nullable: true},
			driver.Field{Name: "l" + scalar, Scalar: scalar, List: true, Nullable: true})
	}
	t.Fields[0].Nullable = false
	t.Fields = append(t.Fields, driver.Field{Name: "_x", Scalar: "Float"}, driver.Field{Name: "id", Scalar: "Int",
		List: true})
	t.Indexes = []driver.Index{
		{Name: "byString", PK: []int{2}, SK: []int{14}, Projected: []int{0, 2, 10, 12}},
		{Name: "byFloat", PK: []int{10}, SK: []int{2}, Projected: []int{0, 18, 19}},
	}
	return t
}()

// drawScalar appends a value of the type that a projector can make.
func drawScalar(t *rapid.T, b *record.Builder, scalar string) {
	switch scalar {
	case "Boolean":
		b.Boolean(rapid.Bool().Draw(t, "boolean"))
	case "Int":
		b.Int(int(rapid.Int32().Draw(t, "int")))
	case "Int64":
		b.Int64(rapid.Int64().Draw(t, "int64"))
	case "Float":
		odd := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e21, 1e-7, 1.5, math.MaxFloat64,
			math.SmallestNonzeroFloat64, 1e126, 9.99e125, 1e-130, 9e-131})
		any := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) })
		b.Float(rapid.OneOf(odd, any).Draw(t, "float"))
	case "Decimal":
		odd := rapid.SampledFrom([]string{"0", "-0", "1.50", "1e21", "0.10", "100", "-100.001", strings.Repeat("9", 38),
			strings.Repeat("9", 39),
			"1" + strings.Repeat("0", 125), "1" + strings.Repeat("0", 126), "0." + strings.Repeat("0", 129) + "1", "0." +
				strings.Repeat("0", 130) + "1"})
		b.String(rapid.OneOf(odd, rapid.StringMatching(`-?(0|[1-9][0-9]{0,60})(\.[0-9]{0,60}[1-9])?`)).Draw(t, "decimal"))
	case "Date":
		b.String(rapid.StringMatching(`20[0-9]{2}-0[1-9]-1[0-9]`).Draw(t, "date"))
	case "DateTime":
		b.DateTime(time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")))
	default:
		b.String(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "\"\\\n", "a"})).Draw(t, "string"))
	}
}

// drawRow makes a row of the table whose index keys are made as querydb makes them, up to a half whose field was
// cleared.
func drawRow(t *rapid.T, table *driver.Table) driver.Row {
	var b record.Builder
	b.Begin(len(table.Fields))
	for f := range table.Fields {
		field := &table.Fields[f]
		switch {
		case f == 0:
			b.String(rapid.StringN(1, 20, -1).Draw(t, "key"))
		case field.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0:
			b.Null()
		case field.List:
			b.BeginList()
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				drawScalar(t, &b, field.Scalar)
			}
			b.EndList()
		default:
			drawScalar(t, &b, field.Scalar)
		}
	}
	rec, f, err := b.Finish()
	if err != nil {
		t.Fatal(f, err)
	}
	row := driver.Row{Record: rec}
	row.Key.PK, _ = record.String(rec.JSON(0))
	half, kept := record.String(rec.JSON(2))
	if !kept && rapid.Bool().Draw(t, "cleared") {
		half, kept = "kept", true
	}
	there := kept && half != ""
	byString := driver.IndexKey{HasPK: there, HasSK: rapid.Bool().Draw(t, "has sk")}
	byFloat := driver.IndexKey{HasSK: there, HasPK: rapid.Bool().Draw(t, "has pk")}
	if there {
		byString.PK, byFloat.SK = half, half
	}
	if byString.HasSK {
		byString.SK = "sort"
	}
	if byFloat.HasPK {
		byFloat.PK = "partition"
	}
	row.Indexes = []driver.IndexKey{byString, byFloat}
	if rapid.Bool().Draw(t, "expires") {
		row.Expires = time.Unix(rapid.Int64Range(-1<<33, 1<<33).Draw(t, "until"), rapid.Int64Range(0, 1e9-1).Draw(t,
			"until nanos"))
	}
	return row
}

// returned is an item as DynamoDB gives it back after it was written: columns by name, numbers in its own notation.
func returned(t interface{ Fatalf(string, ...any) }, s *shape, k keys.Key, vals []value) item {
	it := s.key(k)
	for i, v := range vals {
		if v != nil {
			it[s.columns[i].attr] = normal(t, v)
		}
	}
	return it
}

func normal(t interface{ Fatalf(string, ...any) }, v value) value {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		d, err := keys.ParseDecimal(v.Value)
		if err != nil || !keepsDecimal(string(d)) {
			t.Fatalf("DynamoDB has no number %s", v.Value)
		}
		return number(string(d))
	case *types.AttributeValueMemberL:
		list := &types.AttributeValueMemberL{}
		for _, e := range v.Value {
			list.Value = append(list.Value, normal(t, e))
		}
		return list
	case *types.AttributeValueMemberM:
		m := &types.AttributeValueMemberM{Value: item{}}
		for name, e := range v.Value {
			m.Value[name] = normal(t, e)
		}
		return m
	}
	return v
}

func TestARowComesBackAsItWasStoredToTheByte(t *testing.T) { rapid.Check(t, rowComesBack) }
func FuzzARowComesBackAsItWasStored(f *testing.F)          { f.Fuzz(rapid.MakeFuzz(rowComesBack)) }

func rowComesBack(t *rapid.T) {
	s := shapeOf(t, everything)
	row := drawRow(t, everything)
	vals, err := s.encode(&row, time.Unix(1, 0))
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	it := returned(t, s, row.Key, vals)
	d := s.decoder(driver.Primary, "")
	got, err := d.row(it)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	same(t, row, got)
	for i := range everything.Indexes {
		entryShows(t, s, i, &row, it)
	}
}

func same(t *rapid.T, want, got driver.Row) {
	for f := range everything.Fields {
		if w, g := want.Record.JSON(f), got.Record.JSON(f); !bytes.Equal(w, g) || (w == nil) != (g == nil) {
			t.Fatalf("field %s: %s, want %s", everything.Fields[f].Name, g, w)
		}
	}
	if !want.Expires.Equal(got.Expires) || want.Key != got.Key {
		t.Fatalf("%v %q, want %v %q", got.Expires, got.Key, want.Expires, want.Key)
	}
	if diff := cmp.Diff(want.Indexes, got.Indexes); diff != "" {
		t.Fatal(diff)
	}
}

// entryShows looks at the item as the index has it, where it is in the index.
func entryShows(t *rapid.T, s *shape, i int, row *driver.Row, it item) {
	x := &s.layout.indexes[i]
	entry := item{}
	for _, attr := range append([]string{s.pk, s.sk, x.pk, x.sk}, x.nonKey...) {
		if v := it[attr]; v != nil {
			entry[attr] = v
		}
	}
	if entry[x.pk] == nil || entry[x.sk] == nil {
		return
	}
	d := s.decoder(i, "")
	got, err := d.row(entry)
	if err != nil {
		t.Fatalf("index %s: %v", x.name, err)
	}
	want := record.Project(row.Record, everything.Indexes[i].Projected)
	if !bytes.Equal(got.Record, want) || !got.Expires.Equal(row.Expires) || got.Key != row.Key {
		t.Fatalf("index %s shows %q, want %q", x.name, got.Record, want)
	}
}

func shapeOf(t interface{ Fatal(...any) }, table *driver.Table) *shape {
	s, err := newShape("", table)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rowOf makes a row of texts, nil for absent ones, with their JSON as it is.
func rowOf(t *testing.T, k keys.Key, fill func(b *record.Builder), n int) driver.Row {
	t.Helper()
	var b record.Builder
	b.Begin(n)
	fill(&b)
	rec, f, err := b.Finish()
	if err != nil {
		t.Fatal(f, err)
	}
	return driver.Row{Key: k, Record: rec}
}

// order is a row of the table tracking.
func order(t *testing.T) driver.Row {
	row := rowOf(t, keys.Key{PK: "o1", SK: "2024-01-15T10:30:00.123Z456"}, func(b *record.Builder) {
		b.String("o1")
		b.DateTime(time.Date(2024, 1, 15, 10, 30, 0, 123456000, time.UTC))
		b.String("c1")
		b.String("placed")
		b.Float(12.5)
		b.Null()
	}, 6)
	row.Indexes = []driver.IndexKey{
		{Key: keys.Key{PK: "c1"}, HasPK: true},
		{Key: keys.Key{PK: "placed", SK: row.Key.SK}, HasPK: true, HasSK: true},
		{Key: keys.Key{SK: "0000000000000012.5"}, HasSK: true},
	}
	return row
}

// show writes an attribute value in short.
func show(v value) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberSS:
		return "{" + strings.Join(v.Value, " ") + "}"
	case *types.AttributeValueMemberM:
		m := map[string]string{}
		for name, e := range v.Value {
			m[name] = show(e)
		}
		return fmt.Sprint(m)
	case *types.AttributeValueMemberL:
		var list []string
		for _, e := range v.Value {
			list = append(list, show(e))
		}
		return fmt.Sprint(list)
	}
	return fmt.Sprintf("%T", v)
}

func showItem(it item) map[string]string {
	out := map[string]string{}
	for name, v := range it {
		out[name] = show(v)
	}
	return out
}

func TestAnItemIsReadable(t *testing.T) {
	s := shapeOf(t, tracking())
	row := order(t)
	vals, err := s.encode(&row, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"id": `"o1"`, "changedAt": `"2024-01-15T10:30:00.123Z456"`, "orderId": `"o1"`, "customerId": `"c1"`,
		"status": `"placed"`,
		"total":  "12.5", "_byStatus_sk": `"2024-01-15T10:30:00.123Z456"`, "_byNote_sk": `"0000000000000012.5"`,
		"_own": `map[changedAt:"2024-01-15T10:30:00.123456Z"]`,
	}
	if diff := cmp.Diff(want, showItem(returned(t, s, row.Key, vals))); diff != "" {
		t.Error(diff)
	}
}

func TestAClearedFieldKeepsItsKeyAndStaysNull(t *testing.T) {
	s := shapeOf(t, tracking())
	row := order(t)
	row.Indexes[2].PK, row.Indexes[2].HasPK = "kept", true
	vals, err := s.encode(&row, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	it := returned(t, s, row.Key, vals)
	if got := showItem(it); got["note"] != `"kept"` ||
		got["_own"] != `map[changedAt:"2024-01-15T10:30:00.123456Z" note:null]` {
		t.Errorf("the item is %v", got)
	}
	d := s.decoder(2, "")
	entry, err := d.row(it)
	if err != nil || entry.Record.JSON(5) != nil {
		t.Errorf("the index shows %s, %v, want null", entry.Record.JSON(5), err)
	}
}

func TestARowThatDynamoDBWouldRefuseOrChangeIsInvalid(t *testing.T) {
	tests := map[string]func(row *driver.Row){
		"the partition key is empty": func(row *driver.Row) { row.Key.PK = "" },
		"the sort key is empty":      func(row *driver.Row) { row.Key.SK = "" },
		"partition key has 2049 bytes": func(row *driver.Row) {
			row.Key.PK = strings.Repeat("x", 2049)
		},
		"sort key has 1025 bytes": func(row *driver.Row) {
			row.Key.SK = strings.Repeat("x", 1025)
		},
		"the key is no UTF-8": func(row *driver.Row) { row.Key.PK = "a\xff" },
		"index customerId: invalid: the key is": func(row *driver.Row) {
			row.Indexes[0].PK = "a\xff"
		},
		"index byStatus: invalid: the sort key": func(row *driver.Row) {
			row.Indexes[1].SK = strings.Repeat("x", 1025)
		},
		"index customerId has the key half \"\"": func(row *driver.Row) { row.Indexes[0].PK = "" },
		"the partition \"a\\xff\"": func(row *driver.Row) {
			row.Position.Partition = "a\xff"
		},
		"1000000 events are retried": func(row *driver.Row) {
			row.Position = driver.Position{Offset: 1, Step: 1e6}
		},
		`field orderId: it is "o1", and the key that is made of it "o2"`: func(row *driver.Row) { row.Key.PK = "o2" },
		"0 index keys":                func(row *driver.Row) { row.Indexes = nil },
		"rows of this table never do": func(row *driver.Row) { row.Expires = time.Unix(1, 0) },
	}
	s := shapeOf(t, tracking())
	for want, change := range tests {
		row := order(t)
		change(&row)
		_, err := s.changeOf(&driver.Write{Table: s.table, Row: row}, "", time.Time{})
		if !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "row ") {
			t.Errorf("%v, want ErrInvalid that names the row and says %q", err, want)
		}
	}
}

func TestAFieldOfAnotherTypeIsInvalid(t *testing.T) {
	s := shapeOf(t, everything)
	for f, field := range everything.Fields {
		row := rowOf(t, keys.Key{PK: "a"}, func(b *record.Builder) {
			for i := range everything.Fields {
				switch {
				case i == 0 && f != 0:
					b.String("a")
				case i != f:
					b.Null()
				case field.Scalar == "Boolean" || field.List:
					b.Float(1.5)
				default:
					b.Boolean(true)
				}
			}
		}, len(everything.Fields))
		row.Indexes = make([]driver.IndexKey, 2)
		_, err := s.changeOf(&driver.Write{Table: everything, Row: row}, "", time.Time{})
		if !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), "field "+field.Name) {
			t.Errorf("field %s: %v", field.Name, err)
		}
	}
}

func TestAnItemOfSomebodyElseIsAnErrorThatNamesIt(t *testing.T) {
	s := shapeOf(t, tracking())
	tests := map[string]item{
		"attribute total":        {"total": text("x")},
		"attribute status":       {"status": number("1")},
		"attribute _rev":         {"_rev": text("x")},
		"\"x\" is no position":   {"_pos.a": number("x")},
		"attribute note is no":   {"note": &types.AttributeValueMemberBOOL{}},
		"attribute changedAt":    {"_own": &types.AttributeValueMemberM{Value: item{"changedAt": number("1")}}},
		"attribute _expires: \"": {"_expires": number("x")},
	}
	for want, it := range tests {
		it["id"], it["changedAt"] = text("o1"), text("2024")
		d := s.decoder(driver.Primary, "")
		_, err := d.row(it)
		if !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(),
			`row "o1" "2024"`) {
			t.Errorf("%v, want an error that names the row and says %q", err, want)
		}
	}
}

func FuzzItemsAreReadWithoutPanic(f *testing.F) {
	f.Add("total", "x", "1")
	f.Add("_own", "changedAt", "1e5")
	f.Add("_pos.a/b", "", "1.5")
	s := shapeOf(f, tracking())
	f.Fuzz(func(t *testing.T, attr, s1, n string) {
		for _, v := range []value{
			text(s1), number(n), &types.AttributeValueMemberM{Value: item{s1: number(n), n: text(s1)}},
			&types.AttributeValueMemberL{Value: []value{text(s1), number(n)}}, &types.AttributeValueMemberNULL{Value: true},
		} {
			for index := driver.Primary; index < len(s.table.Indexes); index++ {
				d := s.decoder(index, s1)
				row, err := d.row(item{"id": text("a"), attr: v})
				if err == nil && row.Record != nil && !row.Record.Valid() {
					t.Fatalf("%q is read as a record that is none", show(v))
				}
			}
		}
	})
}
