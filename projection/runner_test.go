package projection_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// waitOrEnd is Wait of a log that is taken to end where it is.
func waitOrEnd(ctx context.Context, log eventlog.Log, after eventlog.Offsets) error {
	partitions, err := log.Partitions(ctx)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		head, err := log.Head(ctx, p)
		if err != nil || head > after[p] {
			return err
		}
	}
	return io.EOF
}

func TestAChangedModelIsFoldedAgain(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, event("", upsert("a", 1)), event("bad", needs("b", 1)))
	run(t, ended(log), open(t, store), quick())

	defer func(v string) { Model.Version = v }(Model.Version)
	Model.Version = "2"
	add(t, log, 2, event("", upsert("a", 10)))
	db := open(t, store)
	r := run(t, ended(log), db, quick())
	if diff := cmp.Diff(map[string]int{"a": 11}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0@2"}, deadLettersOf(t, r)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if got := status(t, r); got.Events != 3 {
		t.Errorf("folded %d events, want the whole log of 3", got.Events)
	}
}

func TestAModelWhoseTableChangedIsFoldedAgain(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, event("", upsert("a", 1)))
	fold := func(table string) map[string]int {
		defer func(name string) { Model.Table = name }(Model.Table)
		Model.Table = table
		db := open(t, store)
		run(t, ended(log), db, quick())
		return totals(t, db, store)
	}
	for _, table := range []string{"Rows", "Renamed", "Rows"} {
		if diff := cmp.Diff(map[string]int{"a": 1}, fold(table)); diff != "" {
			t.Errorf("rows in table %s (-want +got):\n%s", table, diff)
		}
	}
}

// A release renames a model and keeps its table; then it is taken back.
func TestAModelThatGetsItsTableBackIsFoldedAgain(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, event("", upsert("a", 1)))
	run(t, ended(log), open(t, store), quick())

	model, second := other()
	model.Table = Model.Table
	db := open(t, store, model)
	between, err := projection.NewRunner(second, ended(log), db, quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := between.Run(t.Context()); err != nil {
		t.Fatal(err)
	}

	db = open(t, store)
	run(t, ended(log), db, quick())
	if diff := cmp.Diff(map[string]int{"a": 1}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// other is a second model of the same rows.
func other() (*querydb.Model, projection.Projection) {
	ops := Named("Other")
	return ops.Codec.Model, projection.New(ops, projection.Projection{
		Name: "other", Events: []string{EventType},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			return []projection.Op{ops.Upsert(Key{ID: "n", Version: "v"},
				Row{ID: "n", Version: "v"}, func(r *Row) { r.Total++ })}, nil
		},
	})
}

func TestProjectionsKeepTheirOwnCheckpoints(t *testing.T) {
	model, second := other()
	store := newFaultyStore()
	db := open(t, store, Model, model)
	log := openLog(t, event("", upsert("a", 1)), event("", upsert("a", 2)))
	run(t, ended(log), db, quick())
	add(t, log, 2, event("", upsert("a", 4)))

	late, err := projection.NewRunner(second, ended(log), db, quick()) // added later, it folds the whole log
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := totals(t, db, store)["a"]; got != 3 {
		t.Errorf("total of the first is %d, want 3: the other must not move it", got)
	}
	run(t, ended(log), db, quick())
	if got := totals(t, db, store)["a"]; got != 7 {
		t.Errorf("total of the first is %d, want 7", got)
	}
	key, err := Ops.Key(Key{ID: "n", Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Get(t.Context(), model, []keys.Key{key}, true)
	if err != nil {
		t.Fatal(err)
	}
	var row Row
	if err := Codec.Decode(rows[0].Record, &row); err != nil || row.Total != 3 {
		t.Errorf("the second counts %d events (%v), want 3", row.Total, err)
	}
}

func TestAProjectionFoldsWhatItsFiltersLetThroughAndPassesTheRest(t *testing.T) {
	tagged := func(e *eventlog.Event) ([]string, error) {
		if e.Subject == "unreadable" {
			return nil, errors.New("no tags")
		}
		return []string{"subject:" + e.Subject, "all:1"}, nil
	}
	for _, c := range []struct {
		name        string
		filter      func(*projection.Projection)
		want        map[string]int
		deadLetters int
	}{
		{"by type", func(p *projection.Projection) { p.Events = []string{"Unknown"} }, map[string]int{}, 0},
		{"by stream", func(p *projection.Projection) { p.EventSource = "/test" }, map[string]int{"a": 1, "b": 1, "c": 1}, 0},
		{"by another stream", func(p *projection.Projection) { p.EventSource = "/elsewhere" }, map[string]int{}, 0},
		{"by tags", func(p *projection.Projection) { p.Tags, p.TagsOf = []string{"all:1", "subject:t"}, tagged },
			map[string]int{"b": 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Projection("script")
			c.filter(&p)
			store := newFaultyStore()
			db := open(t, store)
			log := logOf(t, event("s", set("a", 1)), event("t", set("b", 1)), event("unreadable", set("c", 1)))
			r, err := projection.NewRunner(p, log, db, quick())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, totals(t, db, store)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			s := status(t, r)
			if s.DeadLetters != c.deadLetters {
				t.Errorf("%d dead letters, want %d", s.DeadLetters, c.deadLetters)
			}
			if s.Partitions[0].Checkpoint != 3 {
				t.Errorf("the checkpoint is at %d, want 3: it passes events that change nothing", s.Partitions[0].Checkpoint)
			}
		})
	}
}

func TestPartitionsAreFoldedEachToItsEnd(t *testing.T) {
	log := memlog.New(memlog.Options{Partitions: 3})
	defer log.Close()
	want := map[string]int{}
	for i, id := range []string{"a", "b", "c", "d", "e", "a", "b", "a"} {
		want[id] += i
		add(t, log, i, event(id, upsert(id, i)))
	}
	log.End()
	store := newFaultyStore()
	db := open(t, store)
	cfg := quick()
	cfg.WindowEvents = 2
	r := run(t, log, db, cfg)
	if diff := cmp.Diff(want, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	s := status(t, r)
	if len(s.Partitions) != 3 || s.Lag != 0 {
		t.Errorf("status: %+v, want three partitions without lag", s)
	}
}

func TestEachChangedRowIsWrittenOncePerWindow(t *testing.T) {
	var events []eventlog.Event
	for range 500 {
		events = append(events, event("", upsert("a", 1), upsert("b", 1)))
	}
	store := newFaultyStore()
	run(t, logOf(t, events...), open(t, store), quick())
	if store.rows != 2 {
		t.Errorf("%d rows written, want 2", store.rows)
	}
}

// Looking for the latest row among all of its partition would make a fold quadratic.
func TestFollowLooksAtTheLastRowsOnly(t *testing.T) {
	const n = 500
	var events []eventlog.Event
	for i := range n {
		events = append(events, event("", Step{Op: "follow", ID: "a", Version: fmt.Sprintf("v%04d", i), Total: 1}))
	}
	looks := 0 // each look asks whether the row has expired
	codec, ops := *Codec, *Ops
	codec.Time = func(r *Row, field int) time.Time { looks++; return timeOf(r, field) }
	ops.Codec = &codec
	r, err := projection.NewRunner(ProjectionOf("counts", &ops), logOf(t, events...), open(t, newFaultyStore()), quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if looks < n || looks > 10*n {
		t.Errorf("%d looks at rows for %d events, want a few for each", looks, n)
	}
}

func TestAWindowIsBoundedByItsBytes(t *testing.T) {
	var events []eventlog.Event
	for range 40 {
		events = append(events, event("", upsert("a", 1)))
	}
	store := newFaultyStore()
	db := open(t, store)
	cfg := quick()
	cfg.WindowBytes = 1
	r := run(t, logOf(t, events...), db, cfg)
	if s := status(t, r); s.Commits != 40 {
		t.Errorf("%d commits, want one for each of the 40 events", s.Commits)
	}
	if got := totals(t, db, store)["a"]; got != 40 {
		t.Errorf("total is %d, want 40", got)
	}
}

func TestNewRunnerRefusesWhatCannotRun(t *testing.T) {
	db := open(t, newFaultyStore())
	log := logOf(t)
	for name, mk := range map[string]func() (*projection.Runner, error){
		"no name": func() (*projection.Runner, error) {
			return projection.NewRunner(Projection(""), log, db, quick())
		},
		"not made by New": func() (*projection.Runner, error) {
			return projection.NewRunner(projection.Projection{Name: "x"}, log, db, quick())
		},
		"tags without TagsOf": func() (*projection.Runner, error) {
			p := Projection("x")
			p.Tags = []string{"a:b"}
			return projection.NewRunner(p, log, db, quick())
		},
		"no source": func() (*projection.Runner, error) {
			return projection.NewRunner(Projection("x"), nil, db, quick())
		},
		"negative window": func() (*projection.Runner, error) {
			return projection.NewRunner(Projection("x"), log, db, projection.RunnerConfig{WindowEvents: -1})
		},
	} {
		if _, err := mk(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
