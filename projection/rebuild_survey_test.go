package projection_test

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// readCounter counts the reads of a store with several writers.
type readCounter struct {
	driver.Driver
	reads *atomic.Int64
}

func (s readCounter) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.reads.Add(1)
	return s.Driver.Get(ctx, g)
}

func (s readCounter) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	s.reads.Add(1)
	return s.Driver.Query(ctx, q)
}

func (s readCounter) WrittenByOthers() {}

func (s readCounter) TxLimits() (writes, bytes int) { return s.Driver.(driver.TxLimiter).TxLimits() }

// TestWhatWasFoundBeforeAStartIsReadAgainWhereItHasChanged: another process goes on between the survey and the start.
func TestWhatWasFoundBeforeAStartIsReadAgainWhereItHasChanged(t *testing.T) {
	cfg := quick()
	cfg.Now = time.Now // what was found is used for some seconds
	rebuild := func(t *testing.T, r *projection.Runner) {
		if err := r.Rebuild(ctx()); err != nil {
			t.Fatal(err)
		}
	}
	fold := func(t *testing.T, r *projection.Runner) {
		if err := r.Run(ctx()); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, other *projection.Runner)
		want      func(t *testing.T, db *querydb.DB, when string)
	}{
		"nothing": {
			func(*testing.T, *projection.Runner) {},
			func(t *testing.T, db *querydb.DB, when string) { wantTotal(t, db, 20, when) },
		},
		"more is folded": {
			fold,
			func(t *testing.T, db *querydb.DB, when string) { wantTotal(t, db, 25, when) },
		},
		"a rebuild begins": {rebuild, wantIncomplete},
		"a rebuild ends": {
			func(t *testing.T, other *projection.Runner) { rebuild(t, other); fold(t, other) },
			func(t *testing.T, db *querydb.DB, when string) { wantTotal(t, db, 25, when) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.NewMultiWriter(memstore.Options{})
			log := openLog(t, countsOf(20)...)
			run(t, ended(log), openAt(t, time.Now, store), cfg)

			reads := &atomic.Int64{}
			db := openAt(t, time.Now, readCounter{store, reads})
			found, err := projection.LookUp(ctx(), db, []projection.Projection{Projection("script")})
			if err != nil {
				t.Fatal(err)
			}
			add(t, log, 20, countsOf(5)...)
			c.meanwhile(t, newRunner(t, "script", ended(log), openAt(t, time.Now, store), cfg))
			before := reads.Load()
			r := newRunner(t, "script", ended(log), db, cfg)
			if err := r.LoadFound(ctx(), &found[0]); err != nil {
				t.Fatal(err)
			}
			if n := reads.Load() - before; name == "nothing" && n > 4 {
				t.Errorf("%d reads where nothing has changed; want at most 4", n)
			}
			c.want(t, db, "at the start")
			if err := r.Run(ctx()); err != nil {
				t.Fatal(err)
			}
			wantTotal(t, db, 25, "when all is folded")
		})
	}
}

// TestASurveyOfManyProjectionsTakesFewReads, and finds of each what one of it alone does.
func TestASurveyOfManyProjectionsTakesFewReads(t *testing.T) {
	store, reads := memstore.NewMultiWriter(memstore.Options{}), &atomic.Int64{}
	var all []projection.Projection
	var models []*querydb.Model
	for i := range 12 {
		name := fmt.Sprint("model", i)
		ops := Shaped(func(m *querydb.Model) { m.Name, m.Table = name, name })
		all, models = append(all, ProjectionOf(name, ops)), append(models, ops.Codec.Model)
	}
	log, cfg := ended(logOf(t, countsOf(3)...)), quick()
	cfg.Now = time.Now
	for _, p := range all[:9] { // the others have no rows
		r, err := projection.NewRunner(p, log, openAt(t, time.Now, store, models...), cfg)
		if err == nil {
			err = r.Run(ctx())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db := openAt(t, time.Now, readCounter{store, reads}, models...)
	before := reads.Load()
	together, err := projection.LookUp(ctx(), db, all)
	if err != nil {
		t.Fatal(err)
	}
	n := reads.Load() - before
	for i, p := range all {
		alone, err := projection.LookUp(ctx(), db, []projection.Projection{p})
		if err != nil {
			t.Fatal(err)
		}
		unexported := cmp.FilterPath(func(path cmp.Path) bool {
			field, is := path.Last().(cmp.StructField)
			return is && !token.IsExported(field.Name())
		}, cmp.Ignore())
		if diff := cmp.Diff(alone[0], together[i], unexported); diff != "" {
			t.Errorf("%s, alone and together (-want +got):\n%s", p.Name, diff)
		}
		if (together[i].Serving != nil) != (i < 9) {
			t.Errorf("%s has rows that serve: %+v", p.Name, together[i].Serving)
		}
	}
	// what is on record of all, their generations, their layouts, and what former versions have on record of three
	if n > 3+3 {
		t.Errorf("%d reads for %d projections; want at most 6", n, len(all))
	}
}

// TestWhatAStartHasFoundIsReadAgainWhereItHasChanged: another process goes on between the start and the fold.
func TestWhatAStartHasFoundIsReadAgainWhereItHasChanged(t *testing.T) {
	cfg := quick()
	cfg.Now = time.Now
	store := memstore.NewMultiWriter(memstore.Options{})
	log := openLog(t, countsOf(20)...)
	run(t, ended(log), openAt(t, time.Now, store), cfg)

	db := openAt(t, time.Now, store)
	r := newRunner(t, "script", ended(log), db, cfg)
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	add(t, log, 20, countsOf(5)...)
	other := newRunner(t, "script", ended(log), openAt(t, time.Now, store), cfg)
	if err := errors.Join(other.Rebuild(ctx()), other.Run(ctx())); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 25, "when all is folded")
	at := r.Reached().Offsets
	add(t, log, 25, countsOf(5)...)
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	if now := r.Reached().Offsets; at["0"] != 25 || now["0"] != 30 {
		t.Errorf("reached %v, and then %v; want 25 and 30", at, now)
	}
}

// TestANextGenerationThatAnotherWriterBeginsIsNoticedBeforeAStart: nothing changes on record of the projection itself.
func TestANextGenerationThatAnotherWriterBeginsIsNoticedBeforeAStart(t *testing.T) {
	cfg := quick()
	cfg.Now = time.Now
	events := []eventlog.Event{
		deviceEvent("telemetry", "", Act{Op: "set", ID: "a", State: ptr("x"), At: ptr(1)}),
		deviceEvent("enrichment", "", Act{Op: "patch", ID: "a", Account: ptr("acme")}),
	}
	store := memstore.NewMultiWriter(memstore.Options{})
	o, folded := writtenProjections(writtenModel())
	start := func(p projection.Projection, db *querydb.DB) *projection.Runner {
		t.Helper()
		r, err := projection.NewRunner(p, logOf(t, events...), db, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := openAt(t, time.Now, store, o.Codec.Model)
	for _, p := range folded {
		if err := start(p, first).Run(ctx()); err != nil {
			t.Fatal(err)
		}
	}
	db := openAt(t, time.Now, store, o.Codec.Model)
	found, err := projection.LookUp(ctx(), db, folded[:1])
	if err != nil {
		t.Fatal(err)
	}
	other := start(folded[1], openAt(t, time.Now, store, o.Codec.Model))
	if err := other.Rebuild(ctx()); err != nil {
		t.Fatal(err)
	}
	r := start(folded[0], db)
	if err := r.LoadFound(ctx(), &found[0]); err != nil {
		t.Fatal(err)
	}
	key, err := o.Key("a")
	if err != nil {
		t.Fatal(err)
	}
	var rebuilding *querydb.RebuildingError
	if _, err := db.Get(ctx(), o.Codec.Model, []keys.Key{key}, true); !errors.As(err, &rebuilding) {
		t.Errorf("at the start rows of the former generation are read: %v", err)
	}
	if err := errors.Join(r.Run(ctx()), other.Run(ctx())); err != nil {
		t.Fatal(err)
	}
	compareDevices(t, openAt(t, time.Now, store, o.Codec.Model), o, events)
}
