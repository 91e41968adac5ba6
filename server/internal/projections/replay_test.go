package projections

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server/internal/sources"
)

// program is one whose models have versions of their own.
type program struct {
	db   *querydb.DB
	all  []projection.Projection
	meet func() error // called before each event is projected, which its error makes a dead letter
}

// openProgram opens a program whose models are called as given, and have the version after the colon.
func openProgram(t *testing.T, store *memstore.MultiWriter, models ...string) *program {
	t.Helper()
	p := &program{meet: func() error { return nil }}
	var described []*querydb.Model
	for _, one := range models {
		name, number, _ := strings.Cut(one, ":")
		m := &querydb.Model{Name: name, Table: name, Version: number, TTL: -1, CreatedAt: -1, UpdatedAt: -1}
		described = append(described, m)
		p.all = append(p.all, projection.New(
			&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}}, projection.Projection{
				Name: name, Events: []string{"T"},
				Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
					return nil, p.meet()
				},
			}))
	}
	var err error
	if p.db, err = querydb.Open(t.Context(), store.Join(memstore.Options{}), described, querydb.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.db.Close() })
	return p
}

// replay makes a replay of what the log has now.
func (p *program) replay(t *testing.T, log *memlog.Log) *Replay {
	t.Helper()
	ends, err := sources.Heads(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReplay(t.Context(), p.all, &sources.UpTo{Source: log, Ends: ends}, p.db, ends,
		projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run folds to the end, and says what the replay prints and how it ends.
func (r *Replay) run(t *testing.T) (summary string, err error) {
	t.Helper()
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Start(t.Context())
	err = r.Wait()
	var text strings.Builder
	if err := r.Summary(context.WithoutCancel(t.Context()), &text); err != nil {
		t.Fatal(err)
	}
	return text.String(), err
}

// TestAReplayFoldsAllRowsThatItMay, and ends with why it may not fold others.
func TestAReplayFoldsAllRowsThatItMay(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), logOf(t, "T", "T")
	defer log.Close()
	if _, err := openProgram(t, store, "Order:1", "Customer:1").replay(t, log).run(t); err != nil {
		t.Fatal(err)
	}
	if _, err := openProgram(t, store, "Order:1", "Customer:3").replay(t, log).run(t); err != nil { // is being built
		t.Fatal(err)
	}
	for _, models := range [][]string{{"Order:2", "Customer:2"}, {"Customer:2", "Order:2"}} {
		summary, err := openProgram(t, store, models...).replay(t, log).run(t)
		if err == nil || !strings.Contains(err.Error(), "rows of Customer are not folded: another version") ||
			strings.Contains(err.Error(), "Order") {
			t.Errorf("%v: %v, want it to say why the rows of Customer are not folded", models, err)
		}
		if !strings.Contains(summary, "Order, built beside the rows that serve: ") || strings.Contains(summary, "Customer") {
			t.Errorf("%v: it has folded %q, want the rows of Order alone", models, summary)
		}
	}
	orders := openProgram(t, store, "Order:2")
	built, err := projection.BuiltOffsets(t.Context(), orders.db, orders.all[0])
	if err != nil || built["0"] != 2 {
		t.Errorf("the rows of Order are built up to %v, %v, want 2", built, err)
	}
}

// TestAReplayBesideAServerEndsWithWhatHasBecomeOfItsRows: the server of the same version has built them first, and
// switches, or an operator aborts the build, while the replay folds.
func TestAReplayBesideAServerEndsWithWhatHasBecomeOfItsRows(t *testing.T) {
	for name, tc := range map[string]struct {
		how     querydb.Rearrangement
		version string
		early   bool   // before the replay begins to fold
		want    string // of the error, "" for none
	}{
		"a server switches":         {querydb.SwitchToBuilt, "2", false, ""},
		"and before it folds":       {querydb.SwitchToBuilt, "2", true, ""},
		"an operator aborts it":     {querydb.DropBuilt, "2", false, "the rebuild was aborted: begin another"},
		"it had been asked for":     {querydb.SwitchToBuilt, "1", false, ""},
		"and an operator aborts it": {querydb.DropBuilt, "1", false, "run 'server replay' again"},
	} {
		t.Run(name, func(t *testing.T) {
			store, log := memstore.NewMultiWriter(memstore.Options{}), logOf(t, "T", "T")
			defer log.Close()
			first := openProgram(t, store, "Order:1")
			if _, err := first.replay(t, log).run(t); err != nil {
				t.Fatal(err)
			}
			if tc.version == "1" {
				if err := projection.RequestRebuild(t.Context(), first.db, first.all[0]); err != nil {
					t.Fatal(err)
				}
			}
			server, mine := openProgram(t, store, "Order:"+tc.version), openProgram(t, store, "Order:"+tc.version)
			replay := mine.replay(t, log)
			changed := sync.OnceFunc(func() {
				if _, err := server.replay(t, log).run(t); err != nil { // as the build of a server
					t.Error(err)
				}
				present := projection.Present{Names: []string{"Order"}}
				var err error
				if tc.how == querydb.SwitchToBuilt {
					err = projection.SwitchToBuilt(t.Context(), server.db, server.all, present, eventlog.Offsets{"0": 2})
				} else {
					err = projection.Rearrange(t.Context(), server.db, tc.how, server.all, present)
				}
				if err != nil {
					t.Error(err)
				}
			})
			mine.meet = func() error {
				changed()
				return nil
			}
			if tc.early {
				changed()
			}
			summary, err := replay.run(t)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("it ends with %v, want %q", err, tc.want)
			}
			if !strings.Contains(summary, "Order, built beside the rows that serve: ") {
				t.Errorf("it prints %q", summary)
			}
		})
	}
}

// TestAReplaySaysThatAServerWillNotSwitchToRowsThatWereRolledBackFrom, though they lack nothing.
func TestAReplaySaysThatAServerWillNotSwitchToRowsThatWereRolledBackFrom(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), logOf(t, "T", "T")
	defer log.Close()
	if _, err := openProgram(t, store, "Order:1").replay(t, log).run(t); err != nil {
		t.Fatal(err)
	}
	changed := openProgram(t, store, "Order:2")
	const want = "\nOrder: a server does not switch to the rows that were built by itself: they have served, and"
	for _, back := range []bool{false, true} {
		for _, how := range []querydb.Rearrangement{querydb.SwitchToBuilt, querydb.SwitchBack} {
			if !back {
				continue
			}
			if err := projection.Rearrange(t.Context(), changed.db, how, changed.all,
				projection.Present{Names: []string{"Order"}}); err != nil {
				t.Fatal(err)
			}
		}
		summary, err := changed.replay(t, log).run(t)
		if err != nil || strings.Contains(summary, want) != back {
			t.Errorf("it prints, and ends with %v:\n%s\nwant it to have %q: %t", err, summary, want, back)
		}
	}
}

// TestAReplaySaysWhyAServerWillNotSwitchToItsRows: to events that the rows that serve show, and these lack.
func TestAReplaySaysWhyAServerWillNotSwitchToItsRows(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), logOf(t, "T", "T")
	defer log.Close()
	if _, err := openProgram(t, store, "Order:1", "Customer:1").replay(t, log).run(t); err != nil {
		t.Fatal(err)
	}
	changed := openProgram(t, store, "Order:2", "Customer:1")
	changed.meet = func() error { return errors.New("bad") }
	summary, err := changed.replay(t, log).run(t)
	const want = "\nOrder: a server does not switch to the rows that were built by itself: they have 2 dead letters"
	if err != nil || !strings.Contains(summary, want) || strings.Count(summary, "\n") != 3 {
		t.Errorf("it prints, and ends with %v:\n%s\nwant %q", err, summary, want)
	}
}
