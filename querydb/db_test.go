package querydb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

var noon = time.Date(2024, 1, 15, 12, 0, 0, 0, time.UTC)

// fixture is a DB over a driver, and its one model.
type fixture struct {
	*querydb.DB
	t     *testing.T
	model *querydb.Model
	codec *querydb.Codec[order]
}

func newFixture(t *testing.T, drv driver.Driver) *fixture {
	t.Helper()
	m := orderModel()
	db, err := querydb.Open(t.Context(), drv, []*querydb.Model{m}, querydb.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
}

func (f *fixture) encode(r order) querydb.Row {
	f.t.Helper()
	row, err := querydb.Encode(f.codec, new(record.Builder), &r)
	if err != nil {
		f.t.Fatal(err)
	}
	return row
}

func (f *fixture) put(rows ...order) {
	f.t.Helper()
	var b querydb.Batch
	for _, r := range rows {
		b.Writes = append(b.Writes, querydb.Write{Model: f.model, Row: f.encode(r)})
	}
	if err := f.Apply(f.t.Context(), b); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) query(q querydb.Query) querydb.Page {
	f.t.Helper()
	page, err := f.Query(f.t.Context(), f.model, q)
	if err != nil {
		f.t.Fatal(err)
	}
	return page
}

func (f *fixture) stats() querydb.Stats { return f.Stats()[0] }

func text(s string) *string { return &s }

func sample(i int) order {
	return order{ID: fmt.Sprintf("o%d", i), At: noon.Add(time.Duration(i) * time.Hour), Customer: text("ann"),
		Status: "open", Total: float64(i)}
}

func ids(rows []querydb.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Key.PK)
	}
	return out
}

func TestGetIsAlignedWithKeysThatRepeatAndKeysThatAreNotThere(t *testing.T) {
	f := newFixture(t, memstore.New())
	f.put(sample(1), sample(2))
	one, two := f.encode(sample(1)).Key, f.encode(sample(2)).Key
	none := keys.Key{PK: "none", SK: "x"}
	asked := []keys.Key{two, none, one, two, none}
	rows, err := f.Get(t.Context(), f.model, asked, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if row.Key != asked[i] || (row.Record != nil) != (asked[i] != none) {
			t.Errorf("row %d is %v (there: %t), asked for %v", i, row.Key, row.Record != nil, asked[i])
		}
	}
	if s := f.stats(); s.Gets != 1 || s.KeysRequested != 3 {
		t.Errorf("%d gets of %d keys, want 1 of 3", s.Gets, s.KeysRequested)
	}
}

func TestAQueryWhoseFieldsTheIndexCarriesReadsTheIndexAlone(t *testing.T) {
	f := newFixture(t, memstore.New())
	f.put(sample(1), sample(2), sample(3))
	page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 2, Fields: []int{fID, fStatus}})
	if diff := cmp.Diff([]string{"o1", "o2"}, ids(page.Rows)); diff != "" {
		t.Error(diff)
	}
	if page.Next == nil {
		t.Error("no next page, and there is a third row")
	}
	if s := f.stats(); s.Queries != 1 || s.Gets != 0 || s.Examined != 3 {
		t.Errorf("%d queries, %d gets, %d keys examined; want 1, 0, 3", s.Queries, s.Gets, s.Examined)
	}
}

func TestRowsOfAnIndexThatCarriesLessAreCompletedByOneBatch(t *testing.T) {
	f := newFixture(t, memstore.New())
	f.put(sample(1), sample(2), sample(3))
	for _, fields := range [][]int{nil, {fID, fTotal}} {
		before := f.stats()
		page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 3, Fields: fields})
		for i, row := range page.Rows {
			if total, _ := record.Float(row.Record.JSON(fTotal)); total != float64(i+1) {
				t.Errorf("fields %v: row %s has total %v", fields, row.Key.PK, total)
			}
		}
		if page.Next != nil || len(page.Rows) != 3 {
			t.Errorf("fields %v: %d rows, next %v; want 3 and no next", fields, len(page.Rows), page.Next)
		}
		if s := f.stats(); s.Queries-before.Queries != 1 || s.Gets-before.Gets != 1 {
			t.Errorf("fields %v: %d queries, %d gets; want 1 and 1", fields, s.Queries-before.Queries, s.Gets-before.Gets)
		}
	}
}

func TestKeysThatNoRowCanHaveAreInvalid(t *testing.T) {
	f := newFixture(t, memstore.New())
	long := func(n int) string { return string(make([]byte, n)) }
	for name, k := range map[string]keys.Key{
		"empty partition": {SK: "x"},
		"empty sort":      {PK: "x"},
		"long partition":  {PK: long(keys.MaxPK + 1), SK: "x"},
		"long sort":       {PK: "x", SK: long(keys.MaxSK + 1)},
	} {
		if _, err := f.Get(t.Context(), f.model, []keys.Key{k}, false); !errors.Is(err, querydb.ErrInvalid) {
			t.Errorf("get %s: %v, want ErrInvalid", name, err)
		}
		err := f.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: f.model, Row: querydb.Row{Key: k}}}})
		var named *querydb.Error
		if !errors.Is(err, querydb.ErrInvalid) || !errors.As(err, &named) || named.Model != "Order" {
			t.Errorf("apply %s: %v, want ErrInvalid that names the model", name, err)
		}
	}
	if _, err := f.Get(t.Context(), f.model, []keys.Key{{PK: long(keys.MaxPK), SK: long(keys.MaxSK)}}, false); err != nil {
		t.Errorf("a key of the greatest size: %v", err)
	}
}

func TestQueriesThatCannotBeAnsweredAreInvalid(t *testing.T) {
	f := newFixture(t, memstore.New())
	for name, q := range map[string]querydb.Query{
		"limit 0":          {Index: driver.Primary, PK: "o1"},
		"limit 1001":       {Index: driver.Primary, PK: "o1", Limit: 1001},
		"empty partition":  {Index: driver.Primary, Limit: 1},
		"no such index":    {Index: 2, PK: "x", Limit: 1},
		"no such field":    {Index: driver.Primary, PK: "x", Limit: 1, Fields: []int{6}},
		"range of no sort": {Index: byCustomer, PK: "x", Limit: 1, Range: keys.Range{Op: keys.RangePrefix, Lo: "a"}},
	} {
		if _, err := f.Query(t.Context(), f.model, q); !errors.Is(err, querydb.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := f.Query(t.Context(), orderModel(), querydb.Query{Index: driver.Primary, PK: "x", Limit: 1}); !errors.Is(
		err, querydb.ErrInvalid) {
		t.Errorf("a model that was not given to Open: %v, want ErrInvalid", err)
	}
}

func TestARowOverTheLimitIsTooLargeAndNothingIsWritten(t *testing.T) {
	f := newFixture(t, memstore.New())
	large := sample(2)
	large.Status = string(make([]byte, 100))
	row := f.encode(large)
	row.Record = append(row.Record, make([]byte, querydb.MaxRowSize)...)
	err := f.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{
		{Model: f.model, Row: f.encode(sample(1))}, {Model: f.model, Row: row},
	}})
	var named *querydb.Error
	if !errors.Is(err, querydb.ErrTooLarge) || !errors.As(err, &named) || named.Key == "" {
		t.Fatalf("%v, want ErrTooLarge that names the row", err)
	}
	rows, err := f.Get(t.Context(), f.model, []keys.Key{f.encode(sample(1)).Key}, true)
	if err != nil || rows[0].Record != nil {
		t.Errorf("the other row of the batch is there, or %v", err)
	}
}

func TestRowsExpireByTheClockButNotForTheFold(t *testing.T) {
	f := newFixture(t, memstore.New())
	gone, stays := sample(1), sample(2)
	gone.Until, stays.Until = noon, noon.Add(time.Nanosecond)
	f.put(gone, stays)
	ks := []keys.Key{f.encode(gone).Key, f.encode(stays).Key}
	for want, db := range map[int]*querydb.DB{1: f.DB, 2: f.ForFold("")} {
		rows, err := db.Get(t.Context(), f.model, ks, true)
		if err != nil {
			t.Fatal(err)
		}
		page, err := db.Query(t.Context(), f.model, querydb.Query{Index: byCustomer, PK: "ann", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(page.Rows); got != want || rows[1].Record == nil || (rows[0].Record != nil) != (want == 2) {
			t.Errorf("%d rows by index, want %d", got, want)
		}
	}
}

func TestNotesAreOrderedReadAndDeleted(t *testing.T) {
	f := newFixture(t, memstore.New())
	value := []byte{0, 0xff, '"'}
	put := querydb.Batch{Notes: []querydb.Note{{Kind: "k", ID: "b", Value: value}, {Kind: "k", ID: "a", Value: []byte{}},
		{Kind: "l", ID: "a", Value: value}}}
	if err := f.Apply(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	got, err := f.Notes().List(t.Context(), "k", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []querydb.Note{{Kind: "k", ID: "a", Value: []byte{}}, {Kind: "k", ID: "b", Value: value}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err = f.Notes().List(t.Context(), "k", "a", 10); err != nil || len(got) != 1 || got[0].ID != "b" {
		t.Errorf("after a: %v, %v; want b", got, err)
	}
	if err := f.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{{Kind: "k", ID: "b"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Notes().Value(t.Context(), "k", "b"); !errors.Is(err, querydb.ErrNotFound) {
		t.Errorf("a deleted note: %v, want ErrNotFound", err)
	}
	if v, err := f.Notes().Value(t.Context(), "l", "a"); err != nil || string(v) != string(value) {
		t.Errorf("the note of another kind: %q, %v", v, err)
	}
}

// fromTheFirst counts queries that begin with the first row of a partition.
type fromTheFirst struct {
	driver.Driver
	queries int
}

func (f *fromTheFirst) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if q.Start == nil {
		f.queries++
	}
	return f.Driver.Query(ctx, q)
}

// TestManyNotesAreDeletedWithoutReadingAgainWhatIsGone: a store may go on reading it for weeks.
func TestManyNotesAreDeletedWithoutReadingAgainWhatIsGone(t *testing.T) {
	store := &fromTheFirst{Driver: memstore.New()}
	f := newFixture(t, store)
	var notes []querydb.Note
	for i := range 2*querydb.MaxPageRows + 1 {
		notes = append(notes, querydb.Note{Kind: "k", ID: fmt.Sprint(i), Value: []byte("x")})
	}
	if err := f.Apply(t.Context(), querydb.Batch{Notes: notes}); err != nil {
		t.Fatal(err)
	}
	store.queries = 0
	if err := f.Notes().DeleteAll(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	queries := store.queries
	left, err := f.Notes().List(t.Context(), "k", "", 1)
	if err != nil || len(left) > 0 || queries > 1 {
		t.Errorf("%d notes are left, %v, and deleted ones were read by %d queries", len(left), err, queries-1)
	}
}

func TestModelsThatCannotHaveATableOfTheirOwnAreRefused(t *testing.T) {
	same, ours, nameless := orderModel(), orderModel(), orderModel()
	ours.Table, nameless.Table = "foldql", ""
	for name, models := range map[string][]*querydb.Model{
		"two of one table": {orderModel(), same},
		"our own table":    {ours},
		"no table":         {nameless},
	} {
		if _, err := querydb.Open(t.Context(), memstore.New(), models, querydb.Config{}); !errors.Is(err,
			querydb.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
