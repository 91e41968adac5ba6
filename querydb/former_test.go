package querydb_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// world are the fields that two schemas draw theirs from, with values of some rows.
var world = []driver.Field{
	{Name: "id", Scalar: "ID"}, {Name: "group", Scalar: "String"}, {Name: "rank", Scalar: "Int"},
	{Name: "colour", Scalar: "String", Enum: "Colour"}, {Name: "note", Scalar: "String", Nullable: true},
	{Name: "colours", Scalar: "String", Enum: "Colour", List: true},
	{Name: "place", Nullable: true, Object: placeFields},
	{Name: "places", List: true, Object: placeFields},
}

var placeFields = []driver.Field{{Name: "street", Scalar: "String"}, {Name: "number", Scalar: "Int", Nullable: true},
	{Name: "colour", Scalar: "String", Enum: "Colour"}}

// worldRow are the values of a row by name; those of objects by name too.
type worldRow map[string]any

func drawWorldRow(t *rapid.T, id int) worldRow {
	colour := rapid.SampledFrom([]string{`"RED"`, `"BLUE"`, `"GREEN"`})
	place := func() worldRow {
		p := worldRow{"street": `"a,b]\"["`, "colour": colour.Draw(t, "colour")}
		if rapid.Bool().Draw(t, "numbered") {
			p["number"] = "7"
		}
		return p
	}
	group := rapid.SampledFrom([]string{`"a"`, `"b"`, `"A"`, `"a/b"`}).Draw(t, "group")
	r := worldRow{"id": fmt.Sprintf(`"r%d"`, id), "group": group,
		"rank": fmt.Sprint(rapid.IntRange(-3, 12).Draw(t, "rank")), "colour": colour.Draw(t, "colour"),
		"colours": "[" + colour.Draw(t, "first") + "," + colour.Draw(t, "second") + "]",
		"places":  []worldRow{place(), place()}}
	if rapid.Bool().Draw(t, "noted") {
		r["note"] = `"n"`
	}
	if rapid.Bool().Draw(t, "placed") {
		r["place"] = place()
	}
	return r
}

// text is the stored text of a field of the row, "" where it is absent.
func (r worldRow) text(f *driver.Field) string {
	object := func(o worldRow) string {
		s := "["
		for i := range f.Object {
			if i > 0 {
				s += ","
			}
			if text := o.text(&f.Object[i]); text != "" {
				s += text
			} else {
				s += "null"
			}
		}
		return s + "]"
	}
	switch v := r[f.Name].(type) {
	case string:
		return v
	case worldRow:
		return object(v)
	case []worldRow:
		s := "["
		for i, o := range v {
			if i > 0 {
				s += ","
			}
			s += object(o)
		}
		return s + "]"
	}
	return ""
}

// row is the stored row of a model.
func (r worldRow) row(t *rapid.T, m *querydb.Model) querydb.Row {
	var b record.Builder
	b.Begin(len(m.Fields))
	for i := range m.Fields {
		if text := r.text(&m.Fields[i]); text != "" {
			b.JSON([]byte(text))
		} else {
			b.Null()
		}
	}
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	compose := func(h *querydb.Half) (string, bool) {
		vals, ok := r.values(h)
		if !ok || !h.Layout.Exists() {
			return "", false
		}
		text, err := h.Layout.Compose(vals...)
		if err != nil {
			t.Fatal(err)
		}
		return text, text != ""
	}
	row := querydb.Row{Record: rec, Indexes: make([]querydb.IndexKey, len(m.DriverTable(0).Indexes))}
	row.Key.PK, _ = compose(&m.PK)
	row.Key.SK, _ = compose(&m.SK)
	for i := range m.Indexes {
		k := &row.Indexes[m.PhysicalIndex(i)]
		k.PK, k.HasPK = compose(&m.Indexes[i].PK)
		k.SK, k.HasSK = compose(&m.Indexes[i].SK)
	}
	if m.Entity != nil {
		row.Kind = m.Entity.Kind
	}
	return row
}

// values are those of the attributes of a half.
func (r worldRow) values(h *querydb.Half) (vals []keys.Value, ok bool) {
	for _, s := range h.Layout.Segments {
		text, has := r[s.Field].(string)
		if !has {
			return nil, false
		}
		scalar := map[keys.Kind]string{keys.KindString: "String", keys.KindInt: "Int"}[s.Kind]
		v, _ := record.KeyValue(scalar, []byte(text))
		vals = append(vals, v)
	}
	return vals, true
}

// drawSchema draws a model of some of the fields, in any order, with any keys. Its rows are an entity's, or have a
// table of their own.
func drawSchema(t *rapid.T, entity bool) *querydb.Model {
	m := &querydb.Model{Name: "Thing", Table: "Things", TTL: -1, CreatedAt: -1, UpdatedAt: -1}
	names := rapid.Permutation([]string{"id", "group", "rank", "colour", "note", "colours", "place", "places"}).Draw(t,
		"fields")
	for _, name := range names {
		key := slices.Contains([]string{"id", "group", "rank"}, name)
		if !key && rapid.IntRange(0, 3).Draw(t, "without "+name) == 0 {
			continue
		}
		f := world[slices.IndexFunc(world, func(f driver.Field) bool { return f.Name == name })]
		if f.Object != nil {
			f.Object = rapid.Permutation(placeFields).Draw(t, "object")[:rapid.IntRange(1, 3).Draw(t, "of it")]
		}
		m.Fields = append(m.Fields, f)
	}
	m.Enums = []querydb.Enum{{Name: "Colour", Values: []string{"RED", "BLUE", "GREEN"}}}
	half := func(segments ...string) querydb.Half {
		l := keys.Layout{Sep: rapid.SampledFrom([]string{"/", "#"}).Draw(t, "sep")}
		l.Head = rapid.SampledFrom([]string{"", "head"}).Draw(t, "head")
		if l.Head != "" {
			l.Casing = rapid.SampledFrom([]keys.Casing{keys.CasingNone, keys.CasingNone, keys.CasingLower}).Draw(t, "casing")
		}
		h := querydb.Half{}
		for _, name := range segments {
			kind := keys.KindString
			if name == "rank" {
				kind = keys.KindInt
			}
			l.Segments = append(l.Segments, keys.Segment{Field: name, Kind: kind})
			h.Fields = append(h.Fields, slices.IndexFunc(m.Fields, func(f driver.Field) bool { return f.Name == name }))
		}
		h.Layout = l
		return h
	}
	m.PK = half(rapid.SampledFrom([][]string{{"id"}, {"id", "group"}, {"group", "id"}}).Draw(t, "pk")...)
	if entity || rapid.Bool().Draw(t, "sorted") {
		m.SK = half("rank")
	}
	for _, x := range rapid.Permutation([]querydb.Index{
		{Name: "byGroup", PK: half("group"), SK: half("rank", "id")},
		{Name: "byRank", PK: half("rank"), SK: half(rapid.SampledFrom([][]string{{"group", "id"}, {"id", "group"}}).Draw(t,
			"order")...)},
	}).Draw(t, "indexes")[:rapid.IntRange(0, 2).Draw(t, "how many")] {
		if rapid.Bool().Draw(t, "partial") {
			x.Projected = slices.Sorted(slices.Values(slices.Concat(m.PK.Fields, m.SK.Fields, x.PK.Fields, x.SK.Fields)))
			x.Projected = slices.Compact(x.Projected)
		}
		m.Indexes = append(m.Indexes, x)
	}
	if !entity {
		return m
	}
	shared := &querydb.SharedTable{Name: "Things", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
		Indexes: []querydb.SharedIndex{{Name: "gsi1", AlwaysSorted: true}, {Name: "gsi2", AlwaysSorted: true}}}
	m.Entity = &querydb.Entity{Table: shared, Kind: rapid.SampledFrom([]string{"thing", "things"}).Draw(t, "kind"),
		PhysicalIndexes: rapid.Permutation([]int{0, 1}).Draw(t, "places")[:len(m.Indexes)]}
	return m
}

func TestAFormerGenerationAnswersLikeTheNewOneOrSaysThatItCannot(t *testing.T) {
	stores := map[string]func() driver.Driver{
		"memory":          func() driver.Driver { return &outliving{Store: memstore.New()} },
		"several writers": func() driver.Driver { return memstore.NewMultiWriter(memstore.Options{}) },
		"embedded":        func() driver.Driver { return openPebble(t) },
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { answersLikeNew(t, open) })
		})
	}
}

func openPebble(t *testing.T) driver.Driver {
	t.Helper()
	store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func answersLikeNew(t *rapid.T, open func() driver.Driver) {
	entity := rapid.Bool().Draw(t, "entity")
	now, was := drawSchema(t, entity), drawSchema(t, entity)
	now.Enums[0].Values = now.Enums[0].Values[:rapid.IntRange(2, 3).Draw(t, "values left")]
	for i := range now.Fields { // what was nullable need not be
		if now.Fields[i].Name == "note" {
			now.Fields[i].Nullable = rapid.Bool().Draw(t, "note may be null")
		}
	}
	var rows []worldRow
	for i := range rapid.IntRange(1, 6).Draw(t, "rows") {
		rows = append(rows, drawWorldRow(t, i))
	}
	drv := open()
	formerly := &served{t, openDB(t, drv, was), was}
	formerly.put(rows)
	fresh := &served{t, openDB(t, memstore.New(), now), now}
	fresh.put(rows)
	reading := &served{t, openDB(t, drv, now), now}
	if err := reading.db.Generations().Serve(now, 0, was.Layout()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		compareRow(t, r, fresh.get(r), reading.get(r), now, was)
		for i := range now.Indexes {
			want, err := fresh.find(i, r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := reading.find(i, r)
			if err != nil {
				if !errors.Is(err, keys.ErrFormerLayout) && !isNotRebuilt(err) {
					t.Fatal(err)
				}
				if hasIndexLike(was, now, i) {
					t.Fatalf("index %s is the former one, and cannot be asked: %v", now.Indexes[i].Name, err)
				}
				continue
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("index %s finds %v, want %v", now.Indexes[i].Name, got, want)
			}
		}
	}
}

func isNotRebuilt(err error) bool {
	var e *querydb.NotRebuiltError
	return errors.As(err, &e)
}

// hasIndexLike reports whether a former index has the very keys.
func hasIndexLike(was, now *querydb.Model, i int) bool {
	return slices.ContainsFunc(was.Indexes, func(x querydb.Index) bool {
		same := func(a, b keys.Layout) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }
		return same(x.PK.Layout, now.Indexes[i].PK.Layout) && same(x.SK.Layout, now.Indexes[i].SK.Layout)
	})
}

func openDB(t *rapid.T, drv driver.Driver, m *querydb.Model) *querydb.DB {
	db, err := querydb.Open(t.Context(), drv, []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// served is a model in a DB, asked as the API asks.
type served struct {
	t  *rapid.T
	db *querydb.DB
	m  *querydb.Model
}

func (s *served) put(rows []worldRow) {
	var b querydb.Batch
	for _, r := range rows {
		b.Writes = append(b.Writes, querydb.Write{Model: s.m, Row: r.row(s.t, s.m)})
	}
	if err := s.db.Apply(s.t.Context(), b); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) view() *querydb.View {
	v, err := s.db.Generations().View(s.t.Context(), s.m)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// get returns the record of a row, nil where its key cannot be composed.
func (s *served) get(r worldRow) record.Record {
	k := s.view().Key(driver.Primary)
	if k == nil {
		return nil
	}
	var at keys.Key
	pk, _ := r.values(&s.m.PK)
	sk, _ := r.values(&s.m.SK)
	var err error
	if at.PK, err = k.PK.Compose(pk...); err == nil && s.m.SK.Layout.Exists() {
		at.SK, err = k.SK.Compose(sk...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	rows, err := s.db.Get(s.t.Context(), s.m, []keys.Key{at}, false)
	if err != nil || rows[0].Record == nil {
		s.t.Fatalf("row %v is %v, %v", at, rows, err)
	}
	if s.m.Entity != nil && rows[0].Kind != s.m.Entity.Kind {
		s.t.Fatalf("row %v is of kind %s", at, rows[0].Kind)
	}
	records := make([]record.Record, 2)
	err = s.db.GetRecords(s.t.Context(), s.m, querydb.Get{Keys: []keys.Key{at, at}}, records)
	if err != nil || !bytes.Equal(records[0], rows[0].Record) || !bytes.Equal(records[1], rows[0].Record) {
		s.t.Fatalf("the record under %v is %q, %v, want %q", at, records, err, rows[0].Record)
	}
	return rows[0].Record
}

// find returns the ids of all rows that have the partition of a row in an index, and its first sort attribute.
func (s *served) find(index int, r worldRow) (ids []string, err error) {
	k := s.view().Key(index)
	if k == nil {
		return nil, s.db.Rebuilds().NotRebuilt(s.m, "the index")
	}
	x := &s.m.Indexes[index]
	pk, _ := r.values(&x.PK)
	sk, _ := r.values(&x.SK)
	q := querydb.Query{Index: index, Limit: 2}
	if q.PK, err = k.PK.Compose(pk...); err != nil {
		return nil, err
	}
	if q.Ranges, err = k.SK.Select(nil, keys.Condition{From: sk[0]}); err != nil {
		return nil, err
	}
	id := slices.IndexFunc(s.m.Fields, func(f driver.Field) bool { return f.Name == "id" })
	q.Visible = func(row *querydb.Row) bool { return string(row.Record.JSON(id)) != `"r1"` }
	for {
		page, err := s.db.Query(s.t.Context(), s.m, q)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			ids = append(ids, string(row.Record.JSON(id)))
		}
		s.sameAgain(q)
		if q.Start = page.Next; q.Start == nil {
			return ids, nil
		}
	}
}

// sameAgain asks for a page of all rows again and again, as the store may answer from memory.
func (s *served) sameAgain(q querydb.Query) {
	q.Visible = nil
	var first querydb.Page
	for n := range 4 {
		page, err := s.db.Query(s.t.Context(), s.m, q)
		if err != nil {
			s.t.Fatal(err)
		}
		if n == 0 {
			first = page
		}
		if diff := cmp.Diff(first, page); diff != "" {
			s.t.Fatalf("asked again, a page is another one:\n%s", diff)
		}
	}
}

// compareRow compares the fields of a row of the former generation with those of the new one.
func compareRow(t *rapid.T, r worldRow, want, got record.Record, now, was *querydb.Model) {
	if got == nil {
		return
	}
	for i := range now.Fields {
		f := &now.Fields[i]
		at := slices.IndexFunc(was.Fields, func(h driver.Field) bool { return h.Name == f.Name })
		text := knownText(f, nil, string(want.JSON(i)), now)
		if at >= 0 {
			text = knownText(f, &was.Fields[at], string(want.JSON(i)), now)
		}
		if string(got.JSON(i)) != text {
			t.Fatalf("field %s of %v is %s, want %s", f.Name, r, got.JSON(i), text)
		}
	}
}

// knownText is the text of a field as far as the former one says it.
func knownText(f, was *driver.Field, text string, m *querydb.Model) string {
	gone := func(elem []byte) bool { return !slices.Contains(m.Enums[0].Values, string(elem[1:len(elem)-1])) }
	switch {
	case was == nil, text == "" && was.Nullable && !f.Nullable:
		return record.Unknown
	case text == "":
		return ""
	case f.Enum != "" && !f.List && gone([]byte(text)):
		return record.Unknown
	case f.Enum != "" && f.List:
		if !record.List([]byte(text), func(elem []byte) bool { return !gone(elem) }) {
			return record.Unknown
		}
		return text
	case f.Object == nil:
		return text
	case f.List:
		out := "["
		record.List([]byte(text), func(elem []byte) bool {
			if len(out) > 1 {
				out += ","
			}
			out += knownObject(f, was, string(elem), m)
			return true
		})
		return out + "]"
	}
	return knownObject(f, was, text, m)
}

func knownObject(f, was *driver.Field, text string, m *querydb.Model) string {
	fields := make([][]byte, len(f.Object))
	record.Object([]byte(text), fields)
	out := "["
	for i := range f.Object {
		if i > 0 {
			out += ","
		}
		var had *driver.Field
		at := slices.IndexFunc(was.Object, func(h driver.Field) bool { return h.Name == f.Object[i].Name })
		if at >= 0 {
			had = &was.Object[at]
		}
		inner := knownText(&f.Object[i], had, string(fields[i]), m)
		if inner == "" {
			inner = "null"
		}
		out += inner
	}
	return out + "]"
}
