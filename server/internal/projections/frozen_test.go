package projections

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// version is a program of one version of a model, over a store that others share.
type version struct {
	db, build *querydb.DB
	p         projection.Projection
}

func openVersion(t *testing.T, store *memstore.MultiWriter, number string) *version {
	t.Helper()
	return openVersionOn(t, store.Join(memstore.Options{}), number)
}

func openVersionOn(t *testing.T, store driver.Driver, number string) *version {
	t.Helper()
	return openModel(t, store,
		&querydb.Model{Name: "Order", Table: "Order", Version: number, TTL: -1, CreatedAt: -1, UpdatedAt: -1})
}

// openStates is a program whose rows have an enum of the values.
func openStates(t *testing.T, store *memstore.MultiWriter, values ...string) *version {
	t.Helper()
	return openModel(t, store.Join(memstore.Options{}), &querydb.Model{
		Name: "Order", Table: "Order", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Fields: []querydb.Field{{Name: "state", Scalar: "String", Enum: "State"}},
		Enums:  []querydb.Enum{{Name: "State", Values: values}},
	})
}

func openModel(t *testing.T, store driver.Driver, m *querydb.Model) *version {
	t.Helper()
	db, err := querydb.Open(t.Context(), store, []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &version{db, build, projection.New(
		&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}}, projection.Projection{
			Name: "Order", Events: []string{"T", "Bad"},
			Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
				if e.Type == "Bad" {
					return nil, errors.New("bad")
				}
				return nil, nil
			},
		})}
}

// fold folds events into the rows that a DB is of.
func (v *version) fold(t *testing.T, db *querydb.DB, types ...string) {
	t.Helper()
	log := logOf(t, types...)
	log.End()
	if db == v.build {
		if err := projection.BeginBuild(t.Context(), v.db, v.build, log, []projection.Projection{v.p},
			projection.RunnerConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := projection.NewRunner(v.p, log, db, projection.RunnerConfig{KeepServing: true, MaxDeadLetterPercent: 100})
	if err == nil {
		err = r.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serve folds as a server does that keeps rows so, until the test ends.
func (v *version) serve(t *testing.T, src eventlog.Source, keep Keep, cfg projection.RunnerConfig) *Set {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	keep.DB = v.db
	set, err := New([]projection.Projection{v.p}, src, v.db, nil, cfg)
	if err == nil {
		err = set.KeepServing(t.Context(), keep)
	}
	if err == nil {
		err = set.Prepare(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	set.Start(t.Context())
	t.Cleanup(func() {
		set.Halt()
		set.Wait()
	})
	return set
}

// logOf is a log of events of the types.
func logOf(t *testing.T, types ...string) *memlog.Log {
	t.Helper()
	log := memlog.New(memlog.Options{})
	for i, typ := range types {
		e := eventlog.Event{ID: strconv.Itoa(i), Source: "/t", Type: typ, Time: time.Unix(int64(i), 0), Data: []byte("{}")}
		if _, err := log.Append(t.Context(), []eventlog.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// survey is what the program finds.
func (v *version) survey(t *testing.T) survey {
	t.Helper()
	all, err := projection.LookUp(t.Context(), v.db, []projection.Projection{v.p})
	if err != nil {
		t.Fatal(err)
	}
	s, err := assess(t.Context(), v.db, []projection.Projection{v.p}, all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRowsServeFromTheFormerTableOfAModelUntilOthersAreAsFar: a switch to rows that are behind those would lose events.
func TestRowsServeFromTheFormerTableOfAModelUntilOthersAreAsFar(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first := openVersion(t, store, "1")
	first.fold(t, first.db, "T", "T")
	moved := openMoved(t, store)
	if s := moved.survey(t); s.folds || !s.begins || len(s.all[0].ServesElsewhere()) != 1 {
		t.Errorf("it folds %t, begins %t, and rows %v serve from former tables; want that it begins, and some", s.folds,
			s.begins, s.all[0].ServesElsewhere())
	}
	unit := []projection.Projection{moved.p}
	for _, types := range [][]string{{"T"}, {"T", "T"}} {
		at, err := projection.ServingOffsets(t.Context(), moved.db, moved.p)
		if err != nil || at["0"] != 2 {
			t.Errorf("the rows that serve are at %v, %v, want 2", at, err)
		}
		moved.fold(t, moved.build, types...)
		err = projection.Rearrange(t.Context(), moved.db, querydb.SwitchToBuilt, unit, projection.Present{})
		if behind := len(types) < 2; errors.Is(err, projection.ErrNotBuilt) != behind || !behind && err != nil {
			t.Errorf("the switch to rows at %d: %v, want it refused: %t", len(types), err, behind)
		}
	}
	if s := moved.survey(t); !s.folds || len(s.all[0].ServesElsewhere()) > 0 {
		t.Errorf("after the switch it folds %t, and rows %v serve from former tables", s.folds,
			s.all[0].ServesElsewhere())
	}
}

// openMoved is a program whose model has another table than those of [openVersion].
func openMoved(t *testing.T, store *memstore.MultiWriter) *version {
	t.Helper()
	return openModel(t, store.Join(memstore.Options{}),
		&querydb.Model{Name: "Order", Table: "Moved", Version: "2", TTL: -1, CreatedAt: -1, UpdatedAt: -1})
}

// TestAServerWhoseModelHasAnotherTableByNowTakesNoRowsBack: another version has taken the record of its rows over. They
// are there and serve, so it does not say that they are removed.
func TestAServerWhoseModelHasAnotherTableByNowTakesNoRowsBack(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first := openVersion(t, store, "1")
	first.fold(t, first.db, "T")
	moved := openMoved(t, store)
	moved.fold(t, moved.build, "T")
	if err := projection.Rearrange(t.Context(), moved.db, querydb.SwitchToBuilt,
		[]projection.Projection{moved.p}, projection.Present{}); err != nil {
		t.Fatal(err)
	}
	for _, folded := range []bool{true, false} {
		u := &unit{set: &Set{keep: &Keep{DB: first.db}}, projections: []projection.Projection{first.p}, folded: folded}
		s, err := surveyed(t.Context(), u, first.survey(t).all, "", time.Now())
		if err != nil || s.folds || !s.all[0].Servable || s.begins || s.why == "" || strings.Contains(s.why, "removed") {
			t.Errorf("a server that has folded rows %t: folds %t, begins %t, %q, %v", folded, s.folds, s.begins, s.why, err)
		}
	}
	if err := projection.RequestRebuild(t.Context(), first.db, first.p); err != nil {
		t.Fatal(err)
	}
	if s := first.survey(t); s.folds || !s.begins {
		t.Errorf("on request it folds %t, begins %t; want that it begins", s.folds, s.begins)
	}
}

// TestAServerDoesNotRebuildWhereOthersFoldItsRowsOnWithMoreValues: in a rolling deployment that adds a value to an
// enum, those of the former version answer from the rows until they are replaced. Where the enum has lost a value,
// those of the new version build rows.
func TestAServerDoesNotRebuildWhereOthersFoldItsRowsOnWithMoreValues(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	few := openStates(t, store, "OPEN")
	few.fold(t, few.db, "T")
	more := openStates(t, store, "OPEN", "HELD")
	if s := more.survey(t); !s.folds || s.begins || s.why != "" {
		t.Errorf("with a value more a server folds %t, begins %t, %q; want that it folds", s.folds, s.begins, s.why)
	}
	more.fold(t, more.db, "T", "T")
	if s := few.survey(t); s.folds || s.begins || !strings.Contains(s.why, "enums have more values") {
		t.Errorf("without it a server folds %t, begins %t, %q; want that it does neither, and why", s.folds, s.begins, s.why)
	}
	targets, err := projection.TargetGenerations(t.Context(), few.db, []projection.Projection{few.p})
	if err != nil || targets[0][few.p.Model] != 1 {
		t.Errorf("without it the tables of generations %v are planned, %v; want the next, if rows are asked for", targets,
			err)
	}
	other := openStates(t, store, "HELD")
	if s := other.survey(t); s.folds || !s.begins {
		t.Errorf("with a value less a server folds %t, begins %t, %q; want that it begins", s.folds, s.begins, s.why)
	}
	if err := projection.RequestRebuild(t.Context(), few.db, few.p); err != nil {
		t.Fatal(err)
	}
	if s := few.survey(t); s.folds || !s.begins {
		t.Errorf("on request a server folds %t, begins %t, %q; want that it begins", s.folds, s.begins, s.why)
	}
}

// TestPositionsAreOfTheRowsThatQueriesRead: where others have switched to rows that are further on, and this program
// has queries read the former ones yet, they are as far as those were.
func TestPositionsAreOfTheRowsThatQueriesRead(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first := openVersion(t, store, "1")
	first.fold(t, first.db, "T", "Bad", "T")
	second := openVersion(t, store, "2")
	f := &following{db: second.db, of: second.p}
	moved := 0
	away := func() { moved++ }
	want := func(when string, offset uint64, letters int) {
		t.Helper()
		at, _, frozen := f.now()
		if !frozen || at.Offsets["0"] != offset || at.DeadLetters != letters {
			t.Errorf("%s: the rows are said to be at %v, with %d dead letters; want %d, with %d", when, at.Offsets["0"],
				at.DeadLetters, offset, letters)
		}
	}
	if err := f.freeze(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	want("at first", 3, 1)
	first.fold(t, first.db, "T", "Bad", "T", "T")
	f.look(t.Context(), away)
	want("folded further", 4, 1)

	third := openVersion(t, store, "3")
	third.fold(t, third.build, "T", "Fine", "T", "T")
	err := projection.Rearrange(t.Context(), third.db, querydb.SwitchToBuilt, []projection.Projection{third.p},
		projection.Present{})
	if err == nil {
		err = third.db.Generations().UseAll(t.Context(), third.p.Models())
	}
	if err != nil {
		t.Fatal(err)
	}
	third.fold(t, third.db, "T", "Fine", "T", "T", "T")
	f.look(t.Context(), away)
	want("others serve", 4, 1)
	if moved != 1 {
		t.Errorf("it was said %d times that others serve, want once", moved)
	}
	if err := f.read(t.Context()); err != errOthersServe {
		t.Errorf("queries are said to read the rows that serve: %v, want %v", err, errOthersServe)
	}
	was := projection.Reached{Offsets: eventlog.Offsets{"0": 4}, DeadLetters: 1}
	if err := f.freeze(t.Context(), "", &was); err != nil {
		t.Fatal(err)
	}
	want("while queries change over", 4, 1)
	if err := f.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("queries read the others", 5, 0)
	f.look(t.Context(), away)
	want("later", 5, 0)
	if moved != 1 {
		t.Error("it is said again that others serve, which queries read")
	}
}
