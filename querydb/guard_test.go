package querydb_test

import (
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// TestAValueThatAnotherProgramHasWrittenIsUnknown on a store that others write to: queries do not answer with a text
// that the enum does not have, in a field, a list or an object. Who folds finds what is there.
func TestAValueThatAnotherProgramHasWrittenIsUnknown(t *testing.T) {
	state := driver.Field{Name: "state", Scalar: "String", Enum: "State"}
	id := querydb.Half{Layout: keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}},
		Fields: []int{0}}
	model := func(values ...string) *querydb.Model {
		all := state
		all.Name, all.List = "all", true
		return &querydb.Model{
			Name: "Task", Table: "Task", Version: "1", PK: id, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
			Fields: []driver.Field{{Name: "id", Scalar: "ID"}, state, all,
				{Name: "parts", List: true, Object: []driver.Field{{Name: "n", Scalar: "Int"}, state}}},
			Enums: []querydb.Enum{{Name: "State", Values: values}},
		}
	}
	row := func(id, state string) querydb.Row {
		var b record.Builder
		b.Begin(4)
		b.String(id)
		b.String("OPEN")
		b.BeginList()
		b.String("OPEN")
		b.String(state)
		b.EndList()
		b.BeginList()
		b.BeginObject()
		b.Int(1)
		b.String(state)
		b.EndObject()
		b.EndList()
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return querydb.Row{Key: keys.Key{PK: id}, Record: rec}
	}
	store := memstore.NewMultiWriter(memstore.Options{})
	more, few := model("OPEN", "HELD"), model("OPEN")
	other := openMemory(t, store.Join(memstore.Options{}), more)
	known, strange := row("known", "OPEN"), row("strange", "HELD")
	err := other.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{
		{Model: more, Row: known}, {Model: more, Row: strange},
	}})
	if err != nil {
		t.Fatal(err)
	}
	db := openMemory(t, store.Join(memstore.Options{}), few)
	check := func(how string, recs ...record.Record) {
		t.Helper()
		if string(recs[0]) != string(known.Record) {
			t.Errorf("%s: a row whose values are known is %q", how, recs[0])
		}
		if text := string(recs[1].JSON(1)); text != `"OPEN"` {
			t.Errorf("%s: a value that is known, beside others, is %s", how, text)
		}
		if text := recs[1].JSON(2); !record.IsUnknown(text) {
			t.Errorf("%s: a list with a value that the enum does not have is %s", how, text)
		}
		parts := record.ObjectsOf(recs[1].JSON(3))
		part := make([][]byte, 2)
		if !parts.Next(part) || string(part[0]) != "1" || !record.IsUnknown(part[1]) {
			t.Errorf("%s: an object with such a value is %s", how, part)
		}
	}
	ks := []keys.Key{known.Key, strange.Key}
	rows, err := db.Get(t.Context(), few, ks, true)
	if err != nil {
		t.Fatal(err)
	}
	check("by keys", rows[0].Record, rows[1].Record)
	recs := make([]record.Record, 2)
	if err := db.GetRecords(t.Context(), few, querydb.Get{Keys: ks, Consistent: true}, recs); err != nil {
		t.Fatal(err)
	}
	check("records", recs...)
	var found []record.Record
	for _, k := range ks {
		page, err := db.Query(t.Context(), few, querydb.Query{Index: driver.Primary, PK: k.PK, Limit: 1})
		if err != nil || len(page.Rows) != 1 {
			t.Fatal(page, err)
		}
		found = append(found, page.Rows[0].Record)
	}
	check("pages", found...)
	rows, err = db.ForFold("").Get(t.Context(), few, ks, true)
	if err != nil || string(rows[1].Record) != string(strange.Record) {
		t.Errorf("who folds finds %v, %v, want what is there", rows, err)
	}
}
