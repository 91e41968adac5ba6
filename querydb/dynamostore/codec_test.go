package dynamostore

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

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
	s := shapeOf(t, dynamotest.Everything)
	row := dynamotest.DrawRow(t, dynamotest.Everything)
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
	for i := range dynamotest.Everything.Indexes {
		entryShows(t, s, i, &row, it)
	}
}

func same(t *rapid.T, want, got driver.Row) {
	for f := range dynamotest.Everything.Fields {
		if w, g := want.Record.JSON(f), got.Record.JSON(f); !bytes.Equal(w, g) || (w == nil) != (g == nil) {
			t.Fatalf("field %s: %s, want %s", dynamotest.Everything.Fields[f].Name, g, w)
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
	want := record.Project(row.Record, dynamotest.Everything.Indexes[i].Projected)
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

func TestAnItemIsReadable(t *testing.T) {
	s := shapeOf(t, dynamotest.Tracking())
	row := dynamotest.Order(t)
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
	if diff := cmp.Diff(want, dynamotest.ShowItem(returned(t, s, row.Key, vals))); diff != "" {
		t.Error(diff)
	}
}

func TestAClearedFieldKeepsItsKeyAndStaysNull(t *testing.T) {
	s := shapeOf(t, dynamotest.Tracking())
	row := dynamotest.Order(t)
	row.Indexes[2].PK, row.Indexes[2].HasPK = "kept", true
	vals, err := s.encode(&row, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	it := returned(t, s, row.Key, vals)
	if got := dynamotest.ShowItem(it); got["note"] != `"kept"` ||
		got["_own"] != `map[changedAt:"2024-01-15T10:30:00.123456Z" note:null]` {
		t.Errorf("the item is %v", got)
	}
	d := s.decoder(2, "")
	entry, err := d.row(it)
	if err != nil || entry.Record.JSON(5) != nil {
		t.Errorf("the index shows %s, %v, want null", entry.Record.JSON(5), err)
	}
}

func TestAnItemOfSomebodyElseIsAnErrorThatNamesIt(t *testing.T) {
	s := shapeOf(t, dynamotest.Tracking())
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
	s := shapeOf(f, dynamotest.Tracking())
	f.Fuzz(func(t *testing.T, attr, s1, n string) {
		for _, v := range []value{
			text(s1), number(n), &types.AttributeValueMemberM{Value: item{s1: number(n), n: text(s1)}},
			&types.AttributeValueMemberL{Value: []value{text(s1), number(n)}}, &types.AttributeValueMemberNULL{Value: true},
		} {
			for index := driver.Primary; index < len(s.table.Indexes); index++ {
				d := s.decoder(index, s1)
				row, err := d.row(item{"id": text("a"), attr: v})
				if err == nil && row.Record != nil && !row.Record.Valid() {
					t.Fatalf("%q is read as a record that is none", dynamotest.Show(v))
				}
			}
		}
	})
}
