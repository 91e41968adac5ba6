package querydb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// describedModel has one of everything that a layout describes.
func describedModel() *querydb.Model {
	id := keys.Layout{Head: "$app#v1#note", Sep: "#", Casing: keys.CasingLower,
		Segments: []keys.Segment{{Field: "id", Kind: keys.KindString, Before: "id_"}}}
	shared := &querydb.SharedTable{Name: "App", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
		Indexes: []querydb.SharedIndex{{Name: "gsi1", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi1pk"}}}}
	place := []driver.Field{{Name: "street", Scalar: "String"}, {Name: "number", Scalar: "Int", Nullable: true}}
	return &querydb.Model{
		Name: "Note", Table: "App", Version: "v1",
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "colour", Scalar: "String", Enum: "Colour", List: true},
			{Name: "place", Object: place, Nullable: true, Copied: driver.Copied{Object: "p", Field: "f"}},
			{Name: "until", Scalar: "DateTime", Nullable: true}},
		Enums: []querydb.Enum{{Name: "Colour", Values: []string{"RED", "BLUE"}}},
		PK:    querydb.Half{Layout: id, Fields: []int{0}}, SK: querydb.Half{Layout: keys.Layout{Head: "$app#v1#note"}},
		Indexes: []querydb.Index{{Name: "all", Unique: true, Projected: []int{0, 1},
			PK: querydb.Half{Layout: keys.Layout{Head: "all"}, Policy: keys.PolicySparse},
			SK: querydb.Half{Layout: id, Fields: []int{0}}}},
		TTL: 3, CreatedAt: -1, UpdatedAt: -1,
		Entity:  &querydb.Entity{Table: shared, Kind: "note", PhysicalIndexes: []int{0}},
		Writers: []querydb.Writer{{Name: "Notes", Part: driver.Part{Fields: []int{1}, PK: []int{0}, Expires: true}}},
	}
}

func openMemory(t testing.TB, drv driver.Driver, models ...*querydb.Model) *querydb.DB {
	t.Helper()
	db, err := querydb.Open(t.Context(), drv, models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestTheFormOfAStoredLayoutStaysAsItIs: what one version of the program has stored, later ones read. Where this fails,
// the form has changed, and needs another number.
func TestTheFormOfAStoredLayoutStaysAsItIs(t *testing.T) {
	m := describedModel()
	note := m.LayoutNote(2)
	if note.Kind != "layout" || note.ID != "App.g2/Note" {
		t.Errorf("the note is %s %s", note.Kind, note.ID)
	}
	want := goldenOfForm(t, note.Value, "json", string(note.Value)+"\n")
	if diff := cmp.Diff(want, string(note.Value)+"\n"); diff != "" {
		t.Error(diff)
	}
	db := openMemory(t, memstore.New(), m)
	note.Value = []byte(want)
	if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
		t.Fatal(err)
	}
	l, err := db.Generations().Layout(t.Context(), m, 2)
	if err != nil || l == nil || !l.Equal(m.Layout()) {
		t.Errorf("read as %v, %v, want the layout of the model", l, err)
	}
}

// goldenOfForm reads what is wanted of layouts in the form of the given one. With UPDATE it is written for a new form,
// and never again.
func goldenOfForm(t *testing.T, layout []byte, ext, is string) (want string) {
	t.Helper()
	var stored struct{ Form int }
	if err := json.Unmarshal(layout, &stored); err != nil {
		t.Fatal(err)
	}
	golden := fmt.Sprintf("testdata/layout%d.%s", stored.Form, ext)
	text, err := os.ReadFile(golden)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("UPDATE") != "" {
		text, err = []byte(is), os.WriteFile(golden, []byte(is), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAChangeOfModelIsANewFormOfStoredLayouts: an earlier program refuses fields that it does not know, and knows a
// later form by its number. Where this fails, raise layoutForm; where a Go type has another name and nothing else has
// changed, remove the golden file, and have it written anew.
func TestAChangeOfModelIsANewFormOfStoredLayouts(t *testing.T) {
	m := orderModel()
	var is strings.Builder
	writeShape(&is, reflect.TypeFor[querydb.Model](), map[reflect.Type]bool{})
	if diff := cmp.Diff(goldenOfForm(t, m.LayoutNote(0).Value, "shape", is.String()), is.String()); diff != "" {
		t.Errorf("what is stored of a model is another in the same form (-want +got):\n%s", diff)
	}
}

// writeShape writes the fields that JSON has of a type, and of those in it, once each.
func writeShape(to *strings.Builder, of reflect.Type, written map[reflect.Type]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		writeShape(to, of.Elem(), written)
		return
	}
	if of.Kind() != reflect.Struct || written[of] {
		return
	}
	written[of] = true
	fields := slices.DeleteFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
		return len(f.Index) > 1 || !f.IsExported()
	})
	for _, f := range fields {
		fmt.Fprintf(to, "%s.%s %s%s\n", of, f.Name, f.Type, f.Tag)
	}
	for _, f := range fields {
		writeShape(to, f.Type, written)
	}
}

func TestALayoutIsOnRecordForItsGenerationAndModelAlone(t *testing.T) {
	orders, returns := entityModels()
	db := openMemory(t, memstore.New(), orders, returns)
	ctx, g := t.Context(), db.Generations()
	if l, err := g.Layout(ctx, orders, 0); l != nil || err != nil {
		t.Errorf("nothing on record: %v, %v, want no layout", l, err)
	}
	if err := g.SaveLayout(ctx, orders, 0); err != nil {
		t.Fatal(err)
	}
	if l, err := g.Layout(ctx, orders, 0); err != nil || l == nil || !l.Equal(orders.Layout()) {
		t.Errorf("%v, %v, want what was saved", l, err)
	}
	if l, err := g.Layout(ctx, returns, 0); err != nil || l == nil || l.Equal(returns.Layout()) {
		t.Errorf("%v, %v, want a layout that says there are no such rows", l, err)
	}
	if l, err := g.Layout(ctx, orders, 1); l != nil || err != nil {
		t.Errorf("another generation: %v, %v, want no layout", l, err)
	}
	if err := db.Tables().RecordDropped(ctx, orders.DriverTable(0)); err != nil {
		t.Fatal(err)
	}
	if l, err := g.Layout(ctx, orders, 0); l != nil || err != nil {
		t.Errorf("a generation that was dropped: %v, %v, want no layout", l, err)
	}
}

// TestALayoutOfALaterProgramIsRefused, and is not called damaged: the program that wrote it reads it.
func TestALayoutOfALaterProgramIsRefused(t *testing.T) {
	m := orderModel()
	db := openMemory(t, memstore.New(), m)
	note := m.LayoutNote(0)
	withMore := strings.Replace(string(note.Value), `{"Name"`, `{"Later":1,"Name"`, 1)
	for _, text := range []string{`{"form":2,"rows":"in another form"}`, withMore} {
		note.Value = []byte(text)
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
			t.Fatal(err)
		}
		l, err := db.Generations().Layout(t.Context(), m, 0)
		if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "use the version of the program") {
			t.Errorf("%s: %v, %v, want ErrInvalid, and what to do", text, l, err)
		}
	}
}

// FuzzADamagedLayoutIsAnError, or it is one by which rows can be asked for; it is never a panic.
func FuzzADamagedLayoutIsAnError(f *testing.F) {
	described, plain := describedModel(), orderModel()
	f.Add(described.LayoutNote(0).Value)
	f.Add(plain.LayoutNote(0).Value)
	f.Add([]byte(`{"form":1,"model":{"Table":"Orders","TTL":-1,"CreatedAt":-1,"UpdatedAt":-1,"PK":{"Fields":[7]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := orderModel()
		db := openMemory(t, memstore.New(), m)
		note := m.LayoutNote(0)
		note.Value = append([]byte{}, text...)
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
			t.Skip(err)
		}
		l, err := db.Generations().Layout(t.Context(), m, 0)
		if err != nil {
			return
		}
		if err := db.Generations().Serve(m, 0, l); err != nil {
			t.Fatal(err)
		}
		_, _ = db.Get(t.Context(), m, []keys.Key{{PK: "a", SK: "b"}, {PK: "a"}}, false)
		for i := driver.Primary; i < len(m.Indexes); i++ {
			_, _ = db.Query(t.Context(), m, querydb.Query{Index: i, PK: "a", Limit: 1, Fields: []int{0}})
		}
	})
}

// formerOrders is a model of orders with another schema than orderModel: its fields are in another order, and total is
// not there.
func formerOrders() *querydb.Model {
	m := orderModel()
	was := *m
	was.Fields = []driver.Field{m.Fields[fStatus], m.Fields[fCustomer], m.Fields[fID], m.Fields[fAt]}
	at := map[int]int{fStatus: 0, fCustomer: 1, fID: 2, fAt: 3}
	moved := func(h querydb.Half) querydb.Half {
		h.Fields = append([]int{}, h.Fields...)
		for i, f := range h.Fields {
			h.Fields[i] = at[f]
		}
		return h
	}
	was.PK, was.SK = moved(m.PK), moved(m.SK)
	was.Indexes = append([]querydb.Index{}, m.Indexes[1:]...)
	for i := range was.Indexes {
		x := &was.Indexes[i]
		x.PK, x.SK, x.Projected = moved(x.PK), moved(x.SK), nil
	}
	was.TTL, was.CreatedAt, was.UpdatedAt = -1, -1, -1
	return &was
}

func TestRowsOfAFormerLayoutAreReadAsThoseOfTheModel(t *testing.T) {
	drv := memstore.New()
	was, now := formerOrders(), orderModel()
	db := openMemory(t, drv, now)
	var b record.Builder
	b.Begin(4)
	b.String("open")
	b.Null()
	b.String("o1")
	b.DateTime(noon)
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	row := querydb.Row{Key: keys.Key{PK: "o1", SK: "x"}, Record: rec, Indexes: make([]querydb.IndexKey, len(was.Indexes))}
	row.Indexes[0] = querydb.IndexKey{Key: keys.Key{PK: "open", SK: "x"}, HasPK: true, HasSK: true}
	former := openMemory(t, drv, was)
	if err := former.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: was, Row: row}}}); err != nil {
		t.Fatal(err)
	}
	g := db.Generations()
	held := g.Hold(t.Context())
	if err := g.Serve(now, 0, was.Layout()); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Get(t.Context(), now, []keys.Key{row.Key}, false)
	if err != nil {
		t.Fatal(err)
	}
	rec = rows[0].Record
	if id, status := string(rec.JSON(fID)), string(rec.JSON(fStatus)); id != `"o1"` || status != `"open"` {
		t.Errorf("the row has the id %s and the status %s", id, status)
	}
	if !record.IsUnknown(rec.JSON(fTotal)) || rec.JSON(fCustomer) != nil {
		t.Errorf("total is %s, want unknown; customer is %s, want null", rec.JSON(fTotal), rec.JSON(fCustomer))
	}
	page, err := db.Query(t.Context(), now, querydb.Query{Index: byStatus, PK: "open", Limit: 10, Fields: []int{fID}})
	if err != nil || len(page.Rows) != 1 || string(page.Rows[0].Record.JSON(fID)) != `"o1"` {
		t.Errorf("by an index that was another: %v, %v", page.Rows, err)
	}
	var missing *querydb.NotRebuiltError
	_, err = db.Query(t.Context(), now, querydb.Query{Index: byCustomer, PK: "ann", Limit: 10})
	if !errors.As(err, &missing) || !errors.Is(err, querydb.ErrUnavailable) {
		t.Errorf("by an index that there was not: %v, want a NotRebuiltError", err)
	}
	if rows, err = db.Get(held, now, []keys.Key{row.Key}, false); err != nil || string(rows[0].Record) == string(rec) {
		t.Errorf("%v, %v: an operation that began before reads another layout", rows, err)
	}
}
