package checkpoint_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// program is one version of a program over a store that others use too.
type program struct {
	*testing.T
	db, build *querydb.DB
	p         checkpoint.Projection
	log       eventlog.Source
	cfg       checkpoint.Config
}

// newProgram starts the program of the version; some of several projections write to its model.
func newProgram(t *testing.T, store *memstore.MultiWriter, log eventlog.Source, version string,
	writers ...querydb.Writer) *program {
	t.Helper()
	id := keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}
	m := &querydb.Model{Name: "Note", Table: "Note", Version: version, Fields: []driver.Field{{Name: "id", Scalar: "ID"}},
		PK: querydb.Half{Fields: []int{0}, Layout: id}, TTL: -1, CreatedAt: -1, UpdatedAt: -1, Writers: writers}
	db, err := querydb.Open(t.Context(), store.Join(memstore.Options{}), []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &program{t, db, build, checkpoint.Projection{Name: "notes", Models: []*querydb.Model{m}}, log,
		checkpoint.Config{Now: time.Now, CommitTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler), CopyRows: 10,
			Reread: func() {}, KeepServing: true}}
}

// open begins the rows of a DB, or goes on with them: they are complete at once, for the log is empty.
func (g *program) open(db *querydb.DB) {
	g.Helper()
	if err := checkpoint.NewState(g.p, g.log, db, g.cfg, nobody{}).Open(g.Context()); err != nil {
		g.Fatal(err)
	}
}

func (g *program) begin() {
	g.Helper()
	if err := checkpoint.Begin(g.Context(), g.db, g.build, g.log, []checkpoint.Projection{g.p}, g.cfg); err != nil {
		g.Fatal(err)
	}
	g.open(g.build)
}

func (g *program) rearrange(how querydb.Rearrangement) error {
	return checkpoint.Rearrange(g.Context(), g.db, how, []checkpoint.Projection{g.p}, nil)
}

func (g *program) look() checkpoint.Survey {
	g.Helper()
	s, err := checkpoint.Look(g.Context(), g.db, []checkpoint.Projection{g.p})
	if err != nil {
		g.Fatal(err)
	}
	return s[0]
}

// nobody watches.
type nobody struct{}

func (nobody) Building(bool, map[string]uint64)                             {}
func (nobody) Rebuild() querydb.Progress                                    { return querydb.Progress{} }
func (nobody) Copied(uint64)                                                {}
func (nobody) Opened(map[string]checkpoint.Checkpoint, int, *cascade.Tasks) {}

// TestABuildIsAbortedForTheVersionThatBuilds, whichever program is told to: any server of a shared store may be. Else
// the one that builds begins at once with another.
func TestABuildIsAbortedForTheVersionThatBuilds(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.begin()
	if s := second.look(); s.Building == nil || !s.Building.Own {
		t.Fatalf("nothing is built: %+v", s)
	}
	if err := first.rearrange(querydb.DropBuilt); err != nil {
		t.Fatal(err)
	}
	if s := second.look(); s.Building != nil || !s.Aborted {
		t.Errorf("the program whose build another one has aborted finds %+v, want it aborted", s)
	}
	if first.look().Aborted {
		t.Error("the program that has aborted it has built nothing, and finds a build of its own aborted")
	}
}

// TestFormerRowsOfAnotherLogNeverServeAgain: a log was accepted in place of the one that they were folded from.
func TestFormerRowsOfAnotherLogNeverServeAgain(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.begin()
	if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.AdoptSource(t.Context(), second.db, memlog.New(memlog.Options{}), second.p); err != nil {
		t.Fatal(err)
	}
	if err := second.rearrange(querydb.SwitchBack); !errors.Is(err, checkpoint.ErrNotBuilt) {
		t.Errorf("a rollback to rows of the former log: %v, want ErrNotBuilt", err)
	}
	if s := second.look(); s.Servable {
		t.Errorf("rows of the former log serve: %+v", s)
	}
}

// TestNoMoreIsBuiltThanOneCommitSwitches: as many projections as one transaction holds are switched, and a build of one
// more is refused before it begins.
func TestNoMoreIsBuiltThanOneCommitSwitches(t *testing.T) {
	for n := 1; ; n++ {
		store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
		writers := make([]querydb.Writer, n)
		for i := range writers {
			writers[i].Name = fmt.Sprint("notes", i)
		}
		first, second := newProgram(t, store, log, "1", writers...), newProgram(t, store, log, "2", writers...)
		of := func(g *program, db *querydb.DB) (all []checkpoint.Projection) {
			for _, w := range writers {
				p := g.p
				p.Name = w.Name
				all = append(all, p)
				if db == nil {
					continue
				}
				if err := checkpoint.NewState(p, log, db, g.cfg, nobody{}).Open(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return all
		}
		of(first, first.db)
		all := of(second, nil)
		err := checkpoint.Begin(t.Context(), second.db, second.build, log, all, second.cfg)
		if errors.Is(err, querydb.ErrTooLarge) {
			if s := second.look(); n < 10 || s.Building != nil {
				t.Errorf("%d projections: %v, with %+v", n, err, s)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		of(second, second.build)
		for _, how := range []querydb.Rearrangement{querydb.SwitchToBuilt, querydb.SwitchBack, querydb.SwitchToBuilt} {
			if err := checkpoint.Rearrange(t.Context(), second.db, how, all, nil); err != nil {
				t.Fatalf("%d projections: %v", n, err)
			}
		}
	}
}
