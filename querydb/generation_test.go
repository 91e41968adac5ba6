package querydb_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// kept is a store that outlives its DB, and whose drops the test holds up.
type kept struct {
	*memstore.Store
	drops   chan driver.Table
	proceed chan error
	dropped chan struct{} // receives when the note of a drop is gone
}

func newKept() *kept {
	return &kept{Store: memstore.New(), drops: make(chan driver.Table), proceed: make(chan error),
		dropped: make(chan struct{}, 1)}
}

func (k *kept) Close() error { return nil }

func (k *kept) Apply(ctx context.Context, b driver.Batch) error {
	err := k.Store.Apply(ctx, b)
	if len(b.Last) == 1 && b.Last[0].Kind == driver.Delete && b.Last[0].Row.Key.PK == "drop" {
		k.dropped <- struct{}{}
	}
	return err
}

func (k *kept) Drop(ctx context.Context, t *driver.Table) error {
	select {
	case k.drops <- *t:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := <-k.proceed; err != nil {
		return err
	}
	return k.Store.Drop(ctx, t)
}

// there reports whether a row is in a generation of the table, whatever serves.
func (k *kept) there(t *testing.T, generation int, key keys.Key) bool {
	t.Helper()
	rows, err := k.Get(t.Context(), driver.Get{Table: &driver.Table{Name: "Orders", Generation: generation},
		Keys: []keys.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	return rows[0].Record != nil
}

// first is a generation that rows have been folded into.
var first = querydb.Generation{Begun: true}

func (f *fixture) wantRows(n int) {
	f.t.Helper()
	if page := f.query(querydb.Query{Index: byCustomer, PK: "ann", Limit: 10}); len(page.Rows) != n {
		f.t.Errorf("%d rows, want %d", len(page.Rows), n)
	}
}

func (f *fixture) close() {
	f.t.Helper()
	if err := f.Close(); err != nil {
		f.t.Fatal(err)
	}
}

func TestRestartBeginsAnEmptyGenerationWithItsNotesAndRemovesTheFormer(t *testing.T) {
	drv := newKept()
	f := newFixture(t, drv)
	f.put(sample(1), sample(2))
	key := f.encode(sample(1)).Key
	if err := f.Generations().Begin(t.Context(), f.model, first,
		[]querydb.Note{{Kind: "k", ID: "a", Value: []byte("new")}}); err != nil {
		t.Fatal(err)
	}
	f.wantRows(0)
	if v, err := f.Notes().Value(t.Context(), "k", "a"); err != nil || string(v) != "new" {
		t.Errorf("the note is %q, %v", v, err)
	}
	f.put(sample(1))
	f.wantRows(1)
	if got := <-drv.drops; got.Name != "Orders" || got.Generation != 0 {
		t.Errorf("drop of %s %d, want Orders 0", got.Name, got.Generation)
	}
	drv.proceed <- nil
	<-drv.dropped
	f.close()
	if drv.there(t, 0, key) || !drv.there(t, 1, key) {
		t.Error("the former generation is there, or the later is not")
	}
	again := newFixture(t, drv)
	again.wantRows(1)
}

func TestTheFirstGenerationFollowsNone(t *testing.T) {
	f := newFixture(t, newKept())
	want := func(number, next int) querydb.Generation {
		t.Helper()
		g, err := f.Generations().Recorded(t.Context(), f.model)
		if err != nil || g.Number != number || g.Next() != next {
			t.Fatalf("%+v, %v: want number %d and %d next", g, err, number, next)
		}
		return g
	}
	if err := f.Generations().Begin(t.Context(), f.model, want(0, 0), nil); err != nil {
		t.Fatal(err)
	}
	want(0, 1)
}

// TestOfTwoProcessesOneBeginsAGeneration, and the other hears of it and serves it.
func TestOfTwoProcessesOneBeginsAGeneration(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	one, two := newFixture(t, store), newFixture(t, store.Join(memstore.Options{}))
	before, err := one.Generations().Recorded(t.Context(), one.model)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Generations().Begin(t.Context(), one.model, before, nil); err != nil {
		t.Fatal(err)
	}
	if err := two.Generations().Begin(t.Context(), two.model, before, nil); !errors.Is(err, querydb.ErrStale) {
		t.Errorf("the second begins the same generation: %v, want ErrStale", err)
	}
	after, err := two.Generations().Recorded(t.Context(), two.model)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Generations().Begin(t.Context(), one.model, after, nil); err != nil {
		t.Fatal(err)
	}
	one.put(sample(1))
	two.wantRows(0)
	if after, err = two.Generations().Recorded(t.Context(), two.model); err != nil {
		t.Fatal(err)
	}
	if err := two.Generations().Use(two.model, after); err != nil {
		t.Fatal(err)
	}
	two.wantRows(1)
	if err := two.Generations().Use(two.model, before); !errors.Is(err, querydb.ErrStale) {
		t.Errorf("to go back to a generation that others have followed: %v, want ErrStale", err)
	}
	two.wantRows(1)
	now, err := querydb.RecordedAll(t.Context(), one.DB, []*querydb.Model{one.model})
	if err != nil || !now[0].Same(after) || now[0].Same(before) {
		t.Errorf("%+v, %v: want what the other has read last, and not what was before", now, err)
	}
}

func TestADropThatWasInterruptedGoesOnAtTheNextOpen(t *testing.T) {
	drv := newKept()
	f := newFixture(t, drv)
	f.put(sample(1))
	key := f.encode(sample(1)).Key
	if err := f.Generations().Begin(t.Context(), f.model, first, nil); err != nil {
		t.Fatal(err)
	}
	f.close() // before the drop began
	if !drv.there(t, 0, key) {
		t.Fatal("the former generation has gone already")
	}

	f = newFixture(t, drv)
	<-drv.drops
	drv.proceed <- errors.New("the disk is away")
	f.close()
	if !drv.there(t, 0, key) {
		t.Fatal("the former generation has gone although the drop failed")
	}

	f = newFixture(t, drv)
	<-drv.drops
	drv.proceed <- nil
	<-drv.dropped
	f.close()
	if drv.there(t, 0, key) {
		t.Error("the former generation is there still")
	}
	f = newFixture(t, drv)
	notes, err := f.Notes().List(t.Context(), "drop", "", 10)
	if err != nil || len(notes) != 0 {
		t.Errorf("%d drops are noted still, or %v", len(notes), err)
	}
}

func TestAFailedDropIsLogged(t *testing.T) {
	drv := newKept()
	m := orderModel()
	logged := make(chan slog.Record, 1)
	db, err := querydb.Open(t.Context(), drv, []*querydb.Model{m},
		querydb.Config{Logger: slog.New(recorder{slog.DiscardHandler, logged})})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Generations().Begin(t.Context(), m, first, nil); err != nil {
		t.Fatal(err)
	}
	<-drv.drops
	drv.proceed <- errors.New("the disk is away")
	if r := <-logged; r.Level != slog.LevelError {
		t.Errorf("logged at %v, want an error", r.Level)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// recorder hands records to the test.
type recorder struct {
	slog.Handler
	records chan slog.Record
}

func (recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r recorder) Handle(_ context.Context, rec slog.Record) error {
	r.records <- rec
	return nil
}

// TestTheEpochChangesWhereReadsMayGoToOtherRows, or be refused, and only there.
func TestTheEpochChangesWhereReadsMayGoToOtherRows(t *testing.T) {
	f := newFixture(t, memstore.New())
	g, before := f.Generations(), querydb.Epoch(f.DB)
	for i, step := range []struct {
		name    string
		act     func() error
		changes bool
	}{
		{"a row is written", func() error { f.put(sample(1)); return nil }, false},
		{"rows are rebuilt", func() error { return f.Rebuilds().MarkRebuilding(f.model, "", nil) }, true},
		{"they are still", func() error { return f.Rebuilds().MarkRebuilding(f.model, "", nil) }, false},
		{"another generation begins", func() error { return g.Begin(t.Context(), f.model, first, nil) }, true},
		{"another layout is read", func() error { return g.Serve(f.model, 1, querydb.NoRows()) }, true},
		{"the model's is", func() error { return g.UseAll(t.Context(), []*querydb.Model{f.model}) }, true},
	} {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if now := querydb.Epoch(f.DB); (now != before) != step.changes {
			t.Errorf("step %d, %s: the epoch was %d and is %d, want a change: %t", i, step.name, before, now, step.changes)
		} else {
			before = now
		}
	}
}
