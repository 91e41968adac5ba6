package projection_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// othersTables is a store of tables that others make: each has an identity, and a mark.
type othersTables struct {
	*memstore.MultiWriter
	mu     sync.Mutex
	made   map[string]int // how often each was recreated
	marks  map[string]string
	looked map[string]int  // how often somebody has asked for its identity
	none   map[string]bool // tables that are not there
}

func newOthersTables(c *clock) *othersTables {
	return &othersTables{
		MultiWriter: memstore.NewMultiWriter(memstore.Options{Now: c.now}),
		made:        map[string]int{}, marks: map[string]string{}, looked: map[string]int{}, none: map[string]bool{},
	}
}

func generationOf(t *driver.Table) string { return fmt.Sprintf("%s.g%d", t.Name, t.Generation) }

func (s *othersTables) TableIDs(_ context.Context, tables []*driver.Table) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, len(tables))
	for i, t := range tables {
		name := generationOf(t)
		s.looked[name]++
		if !s.none[name] {
			all[i] = fmt.Sprint(name, " ", s.made[name])
		}
	}
	return all, nil
}

func (s *othersTables) Marks(_ context.Context, tables []*driver.Table) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = s.marks[generationOf(t)]
	}
	return all, nil
}

func (s *othersTables) SetMark(_ context.Context, t *driver.Table, mark string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := generationOf(t)
	if s.marks[name] == "" {
		s.marks[name] = mark
	}
	return s.marks[name], nil
}

func (s *othersTables) HoldsRows(context.Context, *driver.Table) (bool, error) { return false, nil }

func (s *othersTables) looks(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked[name]
}

// swap puts an empty table in the place of one.
func (s *othersTables) swap(t *testing.T, table *driver.Table) {
	t.Helper()
	if err := s.Drop(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := generationOf(table)
	s.made[name]++
	delete(s.marks, name)
}

// TestATableThatIsSwappedUnderAServerIsNotServed, also as long as nobody has made the table that its rows are to be
// folded into.
func TestATableThatIsSwappedUnderAServerIsNotServed(t *testing.T) {
	c := &clock{at: epoch}
	store := newOthersTables(c)
	db := open(t, store)
	log := openLog(t, event("", upsert("a", 1)))
	cfg := quick()
	cfg.Now, cfg.Heartbeat = c.now, time.Millisecond
	r := newRunner(t, "script", log, db, cfg)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	await(t, r, projection.StateLive)
	get := func() error {
		_, err := db.Get(ctx, Model, []keys.Key{{PK: "a", SK: "v1"}}, true)
		return err
	}
	until := func(what string, unavailable bool) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			err := get()
			if errors.Is(err, querydb.ErrUnavailable) == unavailable && (!unavailable || status(t, r).LastError != "") {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%s: %v, %+v", what, err, status(t, r))
			}
		}
	}
	until("whole", false)
	store.mu.Lock()
	store.none["Script.g1"] = true
	store.mu.Unlock()
	store.swap(t, Model.DriverTable(0))
	c.move(time.Minute)
	until("the table was swapped, and there is no other", true)
	if s := status(t, r); s.CheckHealth(c.now(), time.Hour) == nil {
		t.Errorf("a server without its table is healthy: %+v", s)
	}
	store.mu.Lock()
	delete(store.none, "Script.g1")
	store.mu.Unlock()
	until("the table is there", false)
	stop()
	<-ran
	if got := rowsOf(t, db, []keys.Key{{PK: "a", SK: "v1"}}); len(got) != 1 {
		t.Errorf("rows of the new generation: %v, want a", got)
	}
}

// TestATableThatIsSwappedUnderAServerIsFoundWithinHalfAMinute, whether the server has events to fold or none, and
// nobody asks for the table's identity more often than that.
func TestATableThatIsSwappedUnderAServerIsFoundWithinHalfAMinute(t *testing.T) {
	for _, idle := range []bool{true, false} {
		t.Run(fmt.Sprintf("idle %t", idle), func(t *testing.T) {
			c := &clock{at: epoch}
			store := newOthersTables(c)
			db := open(t, store)
			log := &gate{openLog(t, event("", upsert("a", 1)), event("", upsert("b", 2))), make(chan struct{})}
			cfg := quick()
			cfg.Now, cfg.Heartbeat = c.now, time.Millisecond
			r := newRunner(t, "script", log, db, cfg)
			ctx, stop := context.WithCancel(t.Context())
			ran := make(chan error, 1)
			go func() { ran <- r.Run(ctx) }()
			n := 2
			rounds := func() { // of looking for events, of which some are folded
				for range 5 {
					<-log.idle
					if !idle {
						add(t, log.Log.(*memlog.Log), n, event("", upsert("c", 1)))
						n++
					}
				}
			}
			rounds()
			await(t, r, projection.StateLive)
			table := Model.DriverTable(0)
			looked := store.looks(generationOf(table))
			rounds()
			if now := store.looks(generationOf(table)); now != looked {
				t.Errorf("the identity was asked for %d times within a moment", now-looked)
			}
			store.swap(t, table)
			c.move(29 * time.Second)
			rounds()
			c.move(time.Second)
			for limit := time.Now().Add(20 * time.Second); db.Generations().InUse(Model) == 0; {
				if time.Now().After(limit) {
					t.Fatalf("the table was recreated half a minute ago, and is still served: %+v", status(t, r))
				}
				rounds()
			}
			rounds()
			stop()
			for ended := false; !ended; {
				select {
				case <-ran:
					ended = true
				case <-log.idle:
				}
			}
			if got := rowsOf(t, db, []keys.Key{{PK: "a", SK: "v1"}, {PK: "b", SK: "v1"}}); len(got) != 2 {
				t.Errorf("rows of the new generation: %v, want a and b", got)
			}
		})
	}
}

// TestRowsServeOnWhereTheNextTableHoldsUnknownOnes: a rebuild that is asked for passes over that table.
func TestRowsServeOnWhereTheNextTableHoldsUnknownOnes(t *testing.T) {
	c := &clock{at: epoch}
	store := newOthersTables(c)
	db, log := open(t, store), logOf(t, event("", upsert("a", 1)))
	run(t, log, db, quick())
	store.marks["Script.g1"] = "of another fold"
	if err := projection.RequestRebuild(t.Context(), db, Projection("script")); err != nil {
		t.Fatal(err)
	}
	found, err := projection.LookUp(t.Context(), db, []projection.Projection{Projection("script")})
	if err != nil {
		t.Fatal(err)
	}
	if at := found[0]; !at.Servable || !at.Asked || at.Serving == nil || at.Serving.Tables[0].Generation != 0 {
		t.Errorf("there are %+v, want that the rows serve on, and that a rebuild is asked for", at)
	}
	targets, err := projection.TargetGenerations(t.Context(), db, []projection.Projection{Projection("script")})
	if err != nil || targets[0][Model] != 2 {
		t.Errorf("the next generation is %d, %v; want 2: that of table 1 holds unknown rows", targets[0][Model], err)
	}
}

// TestRowsInAFormerTableThatIsSwappedDoNotServe: what is on record is of the table that there was.
func TestRowsInAFormerTableThatIsSwappedDoNotServe(t *testing.T) {
	store := newOthersTables(&clock{at: epoch})
	run(t, logOf(t, event("", upsert("a", 1))), open(t, store), quick())
	moved := Shaped(func(m *querydb.Model) { m.Table = "Moved" })
	p := ProjectionOf("script", moved)
	serving := func() int {
		t.Helper()
		found, err := projection.LookUp(t.Context(), open(t, store, moved.Codec.Model), []projection.Projection{p})
		if err != nil || found[0].Servable != (len(found[0].ServesElsewhere()) == 1) {
			t.Fatalf("%+v, %v", found, err)
		}
		return len(found[0].ServesElsewhere())
	}
	if n := serving(); n != 1 {
		t.Errorf("rows of %d models serve from former tables, want 1", n)
	}
	store.swap(t, Model.DriverTable(0))
	if n := serving(); n != 0 {
		t.Errorf("rows of %d models serve from former tables that were swapped, want none", n)
	}
}
