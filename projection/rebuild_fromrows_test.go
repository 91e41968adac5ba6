package projection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// indexed are the ops of the rows with another index, of a field, or without it where the version is "bare". The index
// that they have in any case keeps keys that patches have left behind.
func indexed(version, rowVersion string, field int) *OpsOf {
	return Shaped(func(m *querydb.Model) {
		if m.Version, m.RowVersion = version, rowVersion; version != "bare" {
			m.Indexes = append([]querydb.Index{{
				Name: "another",
				PK:   querydb.Half{Layout: layout(keys.KindInt, "field"), Fields: []int{field}},
				SK:   querydb.Half{Layout: layout(keys.KindString, "version"), Fields: []int{fieldVersion}},
			}}, m.Indexes...)
		}
	})
}

// startOf is start with other ops.
func startOf(t *testing.T, store driver.Driver, log eventlog.Source, ops *OpsOf) *program {
	t.Helper()
	g := &program{T: t, db: open(t, store, ops.Codec.Model), p: ProjectionOf("script", ops), ops: ops, log: log}
	var err error
	if g.build, err = g.db.Generations().ForBuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// built is what a build has made: the rows as they are stored, how far they have come, and the dead letters.
type built struct {
	Rows       []driver.Row
	Partitions map[string]uint64
	Letters    []projection.DeadLetter
}

func (g *program) built() (b built) {
	g.Helper()
	at := g.look().Building
	if at == nil || !at.Complete {
		g.Fatalf("what is built is %+v", at)
	}
	offsets, err := projection.BuiltOffsets(g.Context(), g.db, g.p)
	if err != nil {
		g.Fatal(err)
	}
	b.Partitions = offsets
	b.Rows, _, err = querydb.Scan(g.Context(), g.db, g.ops.Codec.Model, at.Tables[0].Generation, nil, 1000)
	if err == nil {
		b.Letters, err = g.runner(g.build).DeadLetters(g.Context(), "", 1000)
	}
	if err != nil {
		g.Fatal(err)
	}
	for i := range b.Letters {
		b.Letters[i].Reason, _, _ = strings.Cut(b.Letters[i].Reason, "\n") // a stack follows
	}
	return b
}

// buildUntil builds until the rows are, or the process ends as the crash says, and returns how many events it has
// folded.
func (g *program) buildUntil(store *faultyStore, c crash, window int) (folded uint64) {
	g.Helper()
	if err := g.begin(); err != nil {
		g.Fatal(err)
	}
	cfg := quick()
	cfg.KeepServing, cfg.WindowEvents = true, window
	r, err := projection.NewRunner(g.p, g.log, g.build, cfg)
	if err != nil {
		g.Fatal(err)
	}
	ctx, end := context.WithCancelCause(g.Context())
	defer end(nil)
	store.fail(c, end)
	defer func() { store.before, store.after = nil, nil }()
	if err := r.Run(ctx); err != nil && !errors.Is(err, errCrash) {
		g.Fatalf("build: %v", err)
	}
	s, err := r.Status(g.Context())
	if err != nil {
		g.Fatal(err)
	}
	return s.Events
}

// TestAnIndexIsBuiltOfTheRowsThatServe wherever the process ends meanwhile, and what is built is what the fold of the
// whole log would have built, dead letters included: of random events, of which some come after the build has begun.
// The former program may fold on between two attempts. No event is folded that the rows have.
func TestAnIndexIsBuiltOfTheRowsThatServe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawEvents(rt)
		n := rapid.IntRange(0, len(events)).Draw(rt, "folded before")
		log, store := openLog(t, events[:n]...), newFaultyStore()
		window := rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(rt, "window")
		if err := startOf(t, store, ended(log), indexed("bare", "r", 0)).fold(); err != nil {
			rt.Fatal(err)
		}
		copied := n // events, at most, that the rows have which are copied
		crashes := append(drawCrashes(rt), crash{})
		former := rapid.IntRange(0, len(crashes)).Draw(rt, "the former program folds on before attempt")
		var g *program
		for i, c := range crashes {
			if i == former {
				m := rapid.IntRange(n, len(events)).Draw(rt, "to")
				add(t, log, n, events[n:m]...)
				if n = m; g == nil || !g.look().Building.Complete {
					copied = n
				}
				if err := startOf(t, store, ended(log), indexed("bare", "r", 0)).fold(); err != nil {
					rt.Fatal(err)
				}
			}
			if i == len(crashes)-1 {
				add(t, log, n, events[n:]...)
			}
			g = startOf(t, store, ended(log), indexed("with an index", "r", fieldTotal))
			if folded := g.buildUntil(store, c, window); folded > uint64(len(events)-copied) {
				rt.Errorf("%d events were folded, and %d are not in the rows", folded, len(events)-copied)
			}
		}

		fresh := newFaultyStore()
		if err := startOf(t, fresh, logOf(t), indexed("bare", "", 0)).fold(); err != nil {
			rt.Fatal(err)
		}
		whole := startOf(t, fresh, ended(log), indexed("with an index", "", fieldTotal))
		whole.buildUntil(fresh, crash{}, 100)
		if diff := cmp.Diff(whole.built(), g.built(), cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("not what the fold of the log builds (-fold +copy)\n%s", diff)
		}
	})
}

// TestCopiedRowsHaveWhatTheRowsHave: an event that the rows have folded, and that is tried later elsewhere, is not
// folded again into their copies.
func TestCopiedRowsHaveWhatTheRowsHave(t *testing.T) {
	log, store := openLog(t, upserts(3)...), newFaultyStore()
	first := startOf(t, store, ended(log), indexed("bare", "r", 0))
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	retried := querydb.Note{Kind: "decision:script", ID: "0@00000000000000000002",
		Value: []byte(`{"moment":4,"generation":7,"beside":[0]}`)}
	if err := first.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{retried}}); err != nil {
		t.Fatal(err)
	}
	add(t, log, 3, event("", upsert("c", 32)))
	copied := startOf(t, store, ended(log), indexed("with an index", "r", fieldTotal))
	copied.buildUntil(store, crash{}, 100)
	copied.want("copied", copied.build.ForFold(""), map[string]int{"a": 1, "b": 2, "c": 4 + 32})
}

// TestAnIndexWhoseKeysHangOnFormerWritesIsBuiltFromTheLog: of a field that may be null.
func TestAnIndexWhoseKeysHangOnFormerWritesIsBuiltFromTheLog(t *testing.T) {
	log, store := logOf(t, upserts(6)...), newFaultyStore()
	if err := startOf(t, store, log, indexed("bare", "r", 0)).fold(); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[int]uint64{fieldRank: 6, fieldTotal: 0} {
		g := startOf(t, store, log, indexed("with an index of "+Model.Fields[field].Name, "r", field))
		if folded := g.buildUntil(store, crash{}, 2); folded != want {
			t.Errorf("for an index of %s, %d events were folded, want %d", Model.Fields[field].Name, folded, want)
		}
	}
}
