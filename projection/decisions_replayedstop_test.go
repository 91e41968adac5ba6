package projection_test

import (
	"errors"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// faltering is a projection of the script whose code fails at the second event while the state is broken, and never
// returns from it while that is endless.
func faltering(state *string) projection.Projection {
	p := Projection("script")
	inner := p.Project
	p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		switch {
		case e.Offset != 1:
		case *state == "broken":
			return nil, errors.New("broken")
		case *state == "endless":
			hang()
		}
		return inner(e, m)
	}
	return p
}

// skipToResume skips the second event, at which the runner has stopped: it resumes then, and not before.
func skipToResume(t *testing.T, r *projection.Runner) {
	t.Helper()
	stop := status(t, r).Stop
	if ok, err := r.CanResume(ctx(), stop); err != nil || ok {
		t.Errorf("stopped: resumes %t, %v; want that it does not", ok, err)
	}
	if err := r.Skip(ctx(), "0@1"); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.CanResume(ctx(), stop); err != nil || !ok {
		t.Errorf("skipped: resumes %t, %v; want that it does", ok, err)
	}
}

// TestARebuildThatStopsAtAnEventThatOthersHaveRetriedStaysStopped: what an earlier version decided in vain says nothing
// to this one, which would come to the same place and stop there again.
func TestARebuildThatStopsAtAnEventThatOthersHaveRetriedStaysStopped(t *testing.T) {
	release := hangUntilReleased(t)
	defer release()
	db := open(t, keptStores["plain"]())
	state := "broken"
	p := faltering(&state)
	log := logOf(t, event("s", upsert("a", 1)), event("s", upsert("a", 10)))
	if err := runProjection(t, p, log, db, quick()).Retry(t.Context(), "0@1"); err == nil {
		t.Fatal("the retry succeeds: the test proves nothing")
	}

	defer func(v string) { Model.Version = v }(Model.Version)
	Model.Version += "+"
	if err := db.Apply(ctx(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
		t.Fatal(err)
	}
	state = "endless"
	r, err := projection.NewRunner(p, log, db, impatient())
	if err != nil {
		t.Fatal(err)
	}
	wantStop(t, r, r.Run(ctx()), "0@1")
	skipToResume(t, r)
}

// TestARebuildThatStopsAtARepeatedRetryGoesOnWhenTheEventIsSkipped, and not before: that the event was retried once is
// no decision about the stop.
func TestARebuildThatStopsAtARepeatedRetryGoesOnWhenTheEventIsSkipped(t *testing.T) {
	for name, drv := range keptStores {
		t.Run(name, func(t *testing.T) {
			release := hangUntilReleased(t)
			db := open(t, drv())
			state := "broken"
			p := faltering(&state)
			log := logOf(t, event("s", upsert("a", 1)), event("s", upsert("a", 10)), event("", upsert("a", 100)))
			first := runProjection(t, p, log, db, quick())
			state = "right"
			if err := first.Retry(t.Context(), "0@1"); err != nil {
				t.Fatal(err)
			}
			if err := db.Apply(ctx(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
				t.Fatal(err)
			}

			state = "endless"
			r, err := projection.NewRunner(p, log, db, impatient())
			if err != nil {
				t.Fatal(err)
			}
			wantStop(t, r, r.Run(ctx()), "0@1")
			skipToResume(t, r)
			if err := r.Run(ctx()); err != nil {
				t.Fatal(err)
			}
			release()
			key, err := Ops.Key(Key{ID: "a", Version: "v1"})
			if err != nil {
				t.Fatal(err)
			}
			rows := rowsOf(t, db, []keys.Key{key})
			if got := rows[Key{ID: "a", Version: "v1"}].Row.Total; got != 110 || len(deadLettersOf(t, r)) > 0 {
				t.Errorf("total %d, want 110; dead letters %v, want none", got, deadLettersOf(t, r))
			}
		})
	}
}
