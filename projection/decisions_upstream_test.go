package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// leader folds a log in which an event could not be folded, and decides about it when the program has been corrected.
func leader(t *testing.T, log *memlog.Log, do func(*program)) *program {
	t.Helper()
	g := start(t, newFaultyStore(), ended(log), "1")
	if err := g.fold(); err != nil {
		t.Fatal(err)
	}
	do(g)
	return g
}

func retried(ref string) func(*program) { return decidedBy((*projection.Runner).Retry, ref) }

func skipped(ref string) func(*program) { return decidedBy((*projection.Runner).Skip, ref) }

func decidedBy(do func(*projection.Runner, context.Context, string) error, ref string) func(*program) {
	return func(g *program) {
		g.Helper()
		if err := do(g.runner(g.db), g.Context(), ref); err != nil {
			g.Fatal(err)
		}
	}
}

// wantAs compares rows and, where both have the same program, dead letters with those of the server that is followed.
func (g *program) wantAs(leader *program, db *querydb.DB, r *projection.Runner, corrected bool) {
	g.Helper()
	if diff := cmp.Diff(leader.totals(leader.db, "a", "o"), g.totals(db, "a", "o")); diff != "" {
		g.Errorf("rows (-those of the server that is followed +got):\n%s", diff)
	}
	if corrected {
		return // it folds what nobody has decided about there
	}
	if diff := cmp.Diff(deadLettersOf(g.T, leader.runner(leader.db)), deadLettersOf(g.T, r)); diff != "" {
		g.Errorf("dead letters (-those of the server that is followed +got):\n%s", diff)
	}
}

// follow has the program take over what the leader has decided, as it is sent.
func (g *program) follow(leader *program, r *projection.Runner) projection.DecisionsTaken {
	g.Helper()
	var all []projection.Decision
	for after := ""; ; {
		page, last, err := projection.Decisions(g.Context(), leader.db, "script", after, 2)
		if err != nil {
			g.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		after = last
		for _, d := range page {
			text, err := json.Marshal(d)
			if err != nil {
				g.Fatal(err)
			}
			var sent projection.Decision
			if err := json.Unmarshal(text, &sent); err != nil {
				g.Fatal(err)
			}
			all = append(all, sent)
		}
	}
	taken, err := r.TakeDecisions(g.Context(), all)
	if err != nil {
		g.Fatal(err)
	}
	return taken
}

// more are events that change the same row, behind those that are decided about.
func more() []eventlog.Event {
	return []eventlog.Event{event("s", upsert("a", 20000)), event("other", upsert("o", 30))}
}

// TestWhoFollowsAServerMakesItsRows, wherever it is in the log when it learns what was decided there, with the program
// of before or the corrected one, also when it is started again in between, and when it builds the rows once more.
func TestWhoFollowsAServerMakesItsRows(t *testing.T) {
	for name, do := range map[string]func(*program){
		"retry": retried("0@2"), "skip": skipped("0@2"), "skip of another": skipped("0@7"),
	} {
		for at := 0; at <= 8; at++ {
			for _, corrected := range []bool{false, true} {
				if corrected && name == "skip of another" {
					continue // the corrected program folds what nobody has decided about there
				}
				t.Run(fmt.Sprintf("%s, at %d, corrected %t", name, at, corrected), func(t *testing.T) {
					eachStore(t, func(t *testing.T, store func() driver.Driver) {
						followAt(t, store, do, at, corrected)
					})
				})
			}
		}
	}
}

func followAt(t *testing.T, store func() driver.Driver, do func(*program), at int, corrected bool) {
	log := openLog(t, broken()...)
	first := leader(t, log, do)
	begin := func(src eventlog.Source, version string) *program {
		g := start(t, store(), src, version)
		if corrected {
			g.p = forgiving(g)
		}
		return g
	}
	if at > 0 {
		held := hold(log, at)
		held.shown = 2
		g := start(t, store(), held, "1") // with the program of before
		r, run := inBackground(t, g.runner(g.db))
		run.reaches(t, r, at)
		g.follow(first, r)
		if err := r.ReadDecisions(t.Context()); err != nil {
			t.Fatal(err)
		}
		run.stop()
		_ = run.wait()
	}
	add(t, log, 8, more()...)
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	second := begin(ended(log), "1")
	r := second.runner(second.db)
	second.follow(first, r)
	for range 2 {
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := second.follow(first, r); got.Taken != 0 {
			t.Errorf("taken over once more: %+v", got)
		}
	}
	second.wantAs(first, second.db, r, corrected)
	third := begin(ended(log), "2")
	third.foldBeside()
	third.wantAs(first, third.build.ForFold(""), third.runner(third.build), corrected)
}
