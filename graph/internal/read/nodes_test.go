package read

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// scalars are the types of fields that keys are made of.
var scalars = []string{"ID", "String", "Boolean", "Int", "Int64", "Float", "Decimal", "Date", "DateTime"}

// nodeCatalog has a type with a key of one field, and one whose key has a field of every type.
func nodeCatalog() *catalog.Catalog {
	typ := func(name string, scalars ...string) *catalog.Type {
		m, all := &querydb.Model{Name: name}, make([]int, len(scalars))
		for i, scalar := range scalars {
			m.Fields, all[i] = append(m.Fields, driver.Field{Name: scalar, Scalar: scalar}), i
		}
		return &catalog.Type{Name: name, Model: m, Fields: map[string]*catalog.Field{"id": {Ordinal: -1, NodeKey: all}}}
	}
	return &catalog.Catalog{Nodes: []string{"Task", "Every"}, Types: map[string]*catalog.Type{
		"Task": typ("Task", "ID"), "Every": typ("Every", scalars...),
	}}
}

func every(t testing.TB, text string, n int64, f float64, at time.Time) record.Record {
	t.Helper()
	var b record.Builder
	b.Begin(len(scalars))
	b.String(text)
	b.String(text)
	b.Boolean(n%2 == 0)
	b.Int(int(int32(n)))
	b.Int64(n)
	b.Float(f)
	b.String("12.50")
	b.String("2024-01-15")
	b.DateTime(at)
	rec, _, err := b.Finish()
	if err != nil {
		t.Skip(err) // what no row can hold
	}
	return rec
}

// FuzzGlobalIdentifiersComeBack: the identifier of a row names the values of its key, whatever they are.
func FuzzGlobalIdentifiersComeBack(f *testing.F) {
	f.Add("task-1", int64(7), 1.5, int64(1705314600123))
	f.Add("\"\\/ ß\x00\u2028", int64(-1<<63), math.Copysign(0, -1), int64(0))
	c := nodeCatalog()
	f.Fuzz(func(t *testing.T, text string, n int64, number float64, at int64) {
		rec := every(t, text, n, number, time.UnixMilli(at).UTC())
		typ := c.Types["Every"]
		id, ok := AppendNodeID(nil, typ, NodeKey(typ), rec)
		if !ok {
			t.Fatal("the row has no identifier")
		}
		place, vals, ok := parseNodeID(c, string(id))
		if !ok || place != 1 {
			t.Fatalf("%s is of type %d, %t", id, place, ok)
		}
		want := make([]keys.Value, len(scalars))
		for i, scalar := range scalars {
			want[i], _ = record.KeyValue(scalar, rec.JSON(i))
		}
		if !slices.Equal(vals, want) {
			t.Fatalf("%s names %v, want %v", id, vals, want)
		}
	})
}

// TestAnIdentifierUnderAFormerKeyIsNone, though its values are of the types of the present one: they name another row.
func TestAnIdentifierUnderAFormerKeyIsNone(t *testing.T) {
	of := func(key ...int) *catalog.Catalog {
		m := &querydb.Model{Name: "Task"}
		for _, name := range []string{"taskId", "slug", "slu", "gtaskId"} {
			m.Fields = append(m.Fields, driver.Field{Name: name, Scalar: "ID"})
		}
		return &catalog.Catalog{Nodes: []string{"Task"}, Types: map[string]*catalog.Type{"Task": {Name: "Task", Model: m,
			Fields: map[string]*catalog.Field{"id": {Ordinal: -1, NodeKey: key}}}}}
	}
	var b record.Builder
	b.Begin(4)
	for _, text := range []string{"1", "2", "3", "4"} {
		b.String(text)
	}
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	forms := [][]int{{0}, {1}, {0, 1}, {1, 0}, {2, 3}}
	for i, former := range forms {
		id, ok := AppendNodeID(nil, of(former...).Types["Task"], former, rec)
		if !ok {
			t.Fatal("the row has no identifier")
		}
		for j, present := range forms {
			if _, _, ok := parseNodeID(of(present...), string(id)); ok != (i == j) {
				t.Errorf("by the fields %v, after %v: the identifier is taken: %t", present, former, ok)
			}
		}
	}
	_, vals, ok := parseNodeID(of(1), nodeIDText.EncodeToString([]byte(`["Task","1"]`)))
	if !ok || vals[0].AsString() != "1" {
		t.Errorf("one that an earlier version gave names %v, %t; want the value of the present key", vals, ok)
	}
	place, _, ok := parseNodeID(of(0), nodeIDText.EncodeToString([]byte(`["Gone#abcdef","1"]`)))
	if !ok || place != -1 {
		t.Errorf("one of a type that is no more: place %d, %t; want -1", place, ok)
	}
}

// FuzzIdentifiersOfClients: a text that is none is refused, and nothing panics.
func FuzzIdentifiersOfClients(f *testing.F) {
	for _, text := range []string{`["Task","1"]`, `["Task",1]`, `["Task"]`, `["Every","a","b",true,1,"2",1.5,"1","2024-01-15",` +
		`"2024-01-15T10:30:00.000Z"]`, `[]`, `{}`, `["Task",[[[]]]]`, "[\"Task\",\"\xff\"]", `["Task","\ud800"]`} {
		f.Add(nodeIDText.EncodeToString([]byte(text)))
	}
	c := nodeCatalog()
	f.Fuzz(func(t *testing.T, id string) {
		place, vals, ok := parseNodeID(c, id)
		if ok && place < 0 {
			return // of a row under another schema
		}
		if ok && (place >= len(c.Nodes) || len(vals) != len(NodeKey(c.Types[c.Nodes[place]]))) {
			t.Fatalf("%q names %v of type %d", id, vals, place)
		}
		if ok && slices.ContainsFunc(vals, func(v keys.Value) bool { return !v.Present() }) {
			t.Fatalf("%q names %v, of which one is absent", id, vals)
		}
	})
}
