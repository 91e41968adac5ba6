package item

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
func returned(t interface{ Fatalf(string, ...any) }, s *Codec, k keys.Key, vals []Value) Item {
	it := s.Key(k)
	for i, v := range vals {
		if v != nil {
			it[s.Columns[i].Attr] = normal(t, v)
		}
	}
	return it
}

func normal(t interface{ Fatalf(string, ...any) }, v Value) Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		d, err := keys.ParseDecimal(v.Value)
		if err != nil || !keepsDecimal(string(d)) {
			t.Fatalf("DynamoDB has no number %s", v.Value)
		}
		return Number(string(d))
	case *types.AttributeValueMemberL:
		list := &types.AttributeValueMemberL{}
		for _, e := range v.Value {
			list.Value = append(list.Value, normal(t, e))
		}
		return list
	case *types.AttributeValueMemberM:
		m := &types.AttributeValueMemberM{Value: Item{}}
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
	s := codecOf(t, dynamotest.Everything)
	row := dynamotest.DrawRow(t, dynamotest.Everything)
	vals, err := s.Encode(&row, time.Unix(1, 0))
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	it := returned(t, s, row.Key, vals)
	d := s.Decoder(driver.Primary, "")
	got, err := d.Row(it)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	dynamotest.Same(t, row, got)
	for i := range dynamotest.Everything.Indexes {
		entryShows(t, s, i, &row, it)
	}
}

// entryShows looks at the item as the index has it, where it is in the index.
func entryShows(t *rapid.T, s *Codec, i int, row *driver.Row, it Item) {
	x := &s.Layout.Indexes[i]
	entry := Item{}
	for _, attr := range append([]string{s.PK, s.SK, x.PK, x.SK}, x.NonKey...) {
		if v := it[attr]; v != nil {
			entry[attr] = v
		}
	}
	if entry[x.PK] == nil || entry[x.SK] == nil {
		return
	}
	d := s.Decoder(i, "")
	got, err := d.Row(entry)
	if err != nil {
		t.Fatalf("index %s: %v", x.Name, err)
	}
	want := record.Project(row.Record, dynamotest.Everything.Indexes[i].Projected)
	if !bytes.Equal(got.Record, want) || !got.Expires.Equal(row.Expires) || got.Key != row.Key {
		t.Fatalf("index %s shows %q, want %q", x.Name, got.Record, want)
	}
}

func codecOf(t interface{ Fatal(...any) }, table *driver.Table) *Codec {
	s, err := NewCodec("", table)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnItemIsReadable(t *testing.T) {
	s := codecOf(t, dynamotest.Tracking())
	row := dynamotest.Order(t)
	vals, err := s.Encode(&row, time.Time{})
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
	s := codecOf(t, dynamotest.Tracking())
	row := dynamotest.Order(t)
	row.Indexes[2].PK, row.Indexes[2].HasPK = "kept", true
	vals, err := s.Encode(&row, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	it := returned(t, s, row.Key, vals)
	if got := dynamotest.ShowItem(it); got["note"] != `"kept"` ||
		got["_own"] != `map[changedAt:"2024-01-15T10:30:00.123456Z" note:null]` {
		t.Errorf("the item is %v", got)
	}
	d := s.Decoder(2, "")
	entry, err := d.Row(it)
	if err != nil || entry.Record.JSON(5) != nil {
		t.Errorf("the index shows %s, %v, want null", entry.Record.JSON(5), err)
	}
}

func TestAnItemOfSomebodyElseIsAnErrorThatNamesIt(t *testing.T) {
	s := codecOf(t, dynamotest.Tracking())
	tests := map[string]Item{
		"attribute total":        {"total": Text("x")},
		"attribute status":       {"status": Number("1")},
		"attribute _rev":         {"_rev": Text("x")},
		"\"x\" is no position":   {"_pos.a": Number("x")},
		"attribute note is no":   {"note": &types.AttributeValueMemberBOOL{}},
		"attribute changedAt":    {"_own": &types.AttributeValueMemberM{Value: Item{"changedAt": Number("1")}}},
		"attribute _expires: \"": {"_expires": Number("x")},
	}
	for want, it := range tests {
		it["id"], it["changedAt"] = Text("o1"), Text("2024")
		d := s.Decoder(driver.Primary, "")
		_, err := d.Row(it)
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
	s := codecOf(f, dynamotest.Tracking())
	f.Fuzz(func(t *testing.T, attr, s1, n string) {
		for _, v := range []Value{
			Text(s1), Number(n), &types.AttributeValueMemberM{Value: Item{s1: Number(n), n: Text(s1)}},
			&types.AttributeValueMemberL{Value: []Value{Text(s1), Number(n)}}, &types.AttributeValueMemberNULL{Value: true},
		} {
			for index := driver.Primary; index < len(s.Table.Indexes); index++ {
				d := s.Decoder(index, s1)
				row, err := d.Row(Item{"id": Text("a"), attr: v})
				if err == nil && row.Record != nil && !row.Record.Valid() {
					t.Fatalf("%q is read as a record that is none", dynamotest.Show(v))
				}
			}
		}
	})
}
