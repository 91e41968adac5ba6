package projection_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// fragile is a store that panics where it has to do with a partition, as code of ours does that is wrong.
type fragile struct {
	driver.Driver
	read, write, query string // partition keys
}

func (s *fragile) Close() error { return nil }

func (s *fragile) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	for _, k := range g.Keys {
		if k.PK == s.read {
			panic("read of " + k.PK)
		}
	}
	return s.Driver.Get(ctx, g)
}

func (s *fragile) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if q.PK == s.query {
		panic("query of " + q.PK)
	}
	return s.Driver.Query(ctx, q)
}

func (s *fragile) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range b.Writes {
		if w.Row.Key.PK == s.write {
			panic("write of " + w.Row.Key.PK)
		}
	}
	return s.Driver.Apply(ctx, b)
}

// fragileShared is one that several processes write to.
type fragileShared struct {
	*fragile
	driver.MultiWriter
	driver.TxLimiter
}

// TestAPanicOfOursMakesADeadLetter of the one event that causes it, with what and where at the beginning of its reason.
func TestAPanicOfOursMakesADeadLetter(t *testing.T) {
	for _, c := range []struct {
		name  string
		store fragile
		step  Step
		want  string
	}{
		{"reads a row", fragile{read: "b"}, upsert("b", 1), "panic: read of b"},
		{"reads a partition", fragile{query: "b"}, Step{Op: "follow", ID: "b", Version: "v1"}, "panic: query of b"},
		{"writes a row", fragile{write: "b"}, upsert("b", 1), "panic: write of b"},
	} {
		for window := 1; window <= 4; window++ {
			store := c.store
			store.Driver = memstore.New()
			events := []eventlog.Event{event("", upsert("a", 1)), event("", c.step, upsert("a", 8)), event("", upsert("a", 2))}
			cfg := quick()
			cfg.WindowEvents = window
			r := run(t, logOf(t, events...), open(t, &store), cfg)
			letters, err := r.DeadLetters(t.Context(), "", 10)
			if err != nil || len(letters) != 1 || letters[0].Ref != "0@2" {
				t.Fatalf("%s, window %d: dead letters %+v, %v: want the second event", c.name, window, letters, err)
			}
			first, _, _ := strings.Cut(letters[0].Reason, "\n")
			if where, what, _ := strings.Cut(first, ": "); what != c.want || !strings.Contains(where, "panic_test.go:") {
				t.Errorf("%s, window %d: the reason begins %q, want %q and this file", c.name, window, first, c.want)
			}
			rows, err := readRows(open(t, store.Driver), Model, everyKey())
			if err != nil {
				t.Fatal(err)
			}
			if got := rows[Key{"a", "v1"}].Row.Total; got != 3 {
				t.Errorf("%s, window %d: the other events come to %d, want 3", c.name, window, got)
			}
		}
	}
}

// TestAPanicAmidAWriteStopsTheProjection on a store of which nobody knows then what it has written. With other code the
// event is folded, once.
func TestAPanicAmidAWriteStopsTheProjection(t *testing.T) {
	for window := 1; window <= 4; window++ {
		s := newSetting(t)
		log := logOf(t, event("", upsert("a", 1)), event("", upsert("b", 1)), event("", upsert("a", 2)))
		shared := s.store.Join(memstore.Options{Now: s.clock.now})
		broken := fragileShared{&fragile{Driver: shared, write: "b"}, shared, shared}
		srv := s.over(broken, log, window)
		err := srv.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "event 0@2") ||
			!strings.Contains(err.Error(), "panic: write of b") {
			t.Errorf("window %d: the projection ends with %v, want the event, and the panic", window, err)
		}
		if status, err := srv.Status(t.Context()); err != nil || status.State != projection.StateStopped {
			t.Errorf("window %d: it is %s, %v, want stopped", window, status.State, err)
		}
		if letters := deadLettersOf(t, srv.Runner); len(letters) > 0 {
			t.Errorf("window %d: dead letters %v, want none", window, letters)
		}
		s.fold(log, 2)
		s.want(fmt.Sprintf("window %d, fixed", window), map[string]int{"a": 3, "b": 1})
	}
}

// TestAPanicInTheTagsMakesADeadLetter: tags are read before the projector is called.
func TestAPanicInTheTagsMakesADeadLetter(t *testing.T) {
	p := Projection("script")
	p.Tags = []string{"wanted"}
	p.TagsOf = func(e *eventlog.Event) ([]string, error) {
		if e.ID == "2" {
			panic("no tags")
		}
		return p.Tags, nil
	}
	db := open(t, memstore.New())
	r, err := projection.NewRunner(p, logOf(t, upserts(3)...), db, quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0@2"}, deadLettersOf(t, r)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

// bombs is a source that panics, as a decoder does that is wrong.
type bombs struct{ eventlog.Source }

func (bombs) Read(context.Context, string, uint64, int) ([]eventlog.Event, error) {
	panic("no reading")
}

// TestAPanicOfTheSourceStopsTheProjection and not the process.
func TestAPanicOfTheSourceStopsTheProjection(t *testing.T) {
	r := newRunner(t, "script", bombs{logOf(t, upserts(1)...)}, open(t, memstore.New()), quick())
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "panic_test.go:") ||
		!strings.Contains(err.Error(), ": panic: no reading\n") {
		t.Errorf("the projection ends with %v, want the panic", err)
	}
}

// TestAnEventThatFailsAfterOneOfItsRowsIsDurableStopsTheProjection: a dead letter has had no effect, and this one has.
func TestAnEventThatFailsAfterOneOfItsRowsIsDurableStopsTheProjection(t *testing.T) {
	s := newSetting(t)
	fails := false
	s.ops = kinds["blind"]
	p := projection.New(s.ops, projection.Projection{
		Name: "script", Events: []string{EventType},
		Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
			one := func(r *Row) { r.Total = 1 }
			other := func(r *Row) {
				if r.Total = 1; fails {
					panic("now it fails")
				}
			}
			return []projection.Op{s.ops.Upsert(Key{"a", "v1"}, Row{}, one), s.ops.Upsert(Key{"b", "v1"}, Row{}, other)}, nil
		},
	})
	log := logOf(t, event("", set("a", 1)))
	serve := func(opts memstore.Options) *projection.Runner {
		opts.Now = s.clock.now
		cfg := quick()
		cfg.Now = s.clock.now
		r, err := projection.NewRunner(p, log, open(t, s.store.Join(opts), s.ops.Codec.Model), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ctx, kill := context.WithCancel(t.Context())
	dead := false
	r := serve(memstore.Options{
		Before: func(memstore.Commit) error {
			if dead {
				return errKilled
			}
			return nil
		},
		After: func(c memstore.Commit) error {
			if !writes("a")(c) {
				return nil
			}
			dead = true
			kill()
			return errKilled
		},
	})
	if err := r.Run(ctx); err == nil {
		t.Fatal("the server was to be killed")
	}
	s.want("killed after the first row", map[string]int{"a": 1})
	fails = true
	r = serve(memstore.Options{})
	err := r.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "event 0@1") || !strings.Contains(err.Error(), "now it fails") {
		t.Errorf("the projection ends with %v, want the event, and why it fails", err)
	}
	if letters := deadLettersOf(t, r); !slices.Equal(letters, nil) {
		t.Errorf("dead letters %v, want none", letters)
	}
	fails = false
	if err := serve(memstore.Options{}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want("in the end", map[string]int{"a": 1, "b": 1})
}

// TestAPanicsReasonBeginsWithTheLineOfTheUser, not with that of a library that it has called, of the runtime or of
// ours.
func TestAPanicsReasonBeginsWithTheLineOfTheUser(t *testing.T) {
	ops, line := kinds["blind"], 0
	here := func() { _, _, line, _ = runtime.Caller(1) }
	var none map[string]int
	spaces := func(n int) string { here(); return strings.Repeat(" ", n) }
	for name, project := range map[string]func() []projection.Op{
		"a panic of its own":          func() []projection.Op { here(); panic("oops") },
		"one of the standard library": func() []projection.Op { return []projection.Op{ops.Set(Row{ID: spaces(-1)})} },
		"one of the runtime":          func() []projection.Op { here(); none["x"] = 1; return nil },
		"one of a function that we call": func() []projection.Op {
			return []projection.Op{ops.Upsert(Key{"a", "v1"}, Row{}, func(*Row) { here(); panic("oops") })}
		},
	} {
		p := projection.New(ops, projection.Projection{Name: "script", Events: []string{EventType},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return project(), nil }})
		r, err := projection.NewRunner(p, logOf(t, event("", set("a", 1))), open(t, memstore.New(), ops.Codec.Model), quick())
		if err == nil {
			err = r.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		letters, err := r.DeadLetters(t.Context(), "", 10)
		if err != nil || len(letters) != 1 {
			t.Fatalf("%s: %+v, %v", name, letters, err)
		}
		first, _, _ := strings.Cut(letters[0].Reason, "\n")
		if want := fmt.Sprintf("failure_panic_test.go:%d: panic: ", line); !strings.Contains(first, "/projection/"+want) {
			t.Errorf("%s: the reason begins %q, want %q in it", name, first, want)
		}
	}
}
