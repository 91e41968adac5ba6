package projection_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// fullRow is a change of a row that a copy in one row has no room for.
type fullRow struct {
	events []eventlog.Event         // make the rows; the copies are filled in
	change eventlog.Event           // of the row that they are of
	shrink eventlog.Event           // makes room, and does not change the copy
	want   projection.FailedCascade // but for the reason
	reason string                   // part of it: the row without room
	before string                   // names in copies, by the rows' identifiers, until it is retried with room
	after  string
}

// isRetried folds the events of a fullRow: until the copy has room its cascade is listed and fails again, and then it
// follows when it is retried, and not before.
func (f *fullRow) isRetried(t *testing.T, runner *projection.Runner, log *memlog.Log, names func() string) {
	t.Helper()
	n := 0
	fold := func(events ...eventlog.Event) {
		t.Helper()
		add(t, log, n, events...)
		n += len(events)
		if err := runner.Await(t.Context(), eventlog.Offsets{"0": uint64(n)}); err != nil {
			t.Fatal(err)
		}
	}
	var ctx context.Context
	var stop func()
	ended := make(chan error, 1)
	run := func() {
		ctx, stop = context.WithCancel(t.Context())
		go func() { ended <- runner.Run(ctx) }()
	}
	end := func() {
		stop()
		<-ended
	}
	run()
	defer end()
	check := func(when, names, want string, failed []projection.FailedCascade, err error, wantFailed int) {
		t.Helper()
		if err != nil || len(failed) != wantFailed || names != want {
			t.Fatalf("%s: failed cascades %+v, %v, want %d; copies %s, want %s", when, failed, err, wantFailed, names, want)
		}
		for _, got := range failed {
			diff := cmp.Diff(f.want, got, cmpopts.IgnoreFields(projection.FailedCascade{}, "Reason", "Errors"))
			if diff != "" || !strings.Contains(got.Reason, f.reason) || len(got.Errors) != got.Failed ||
				got.Errors[0].Model+" row "+got.Errors[0].Key+": "+got.Errors[0].Reason != got.Reason {
				t.Fatalf("%s (-want +got):\n%s, and the reason %q, want %q in it; errors %+v", when, diff, got.Reason, f.reason,
					got.Errors)
			}
		}
	}
	fold(f.events...)
	fold(f.change)
	failed, err := awaitFailed(t, runner)
	check("folded", names(), f.before, failed, err, 1)
	tried, failed, err := runner.RetryCascades(ctx)
	check(fmt.Sprintf("retried %d without room", tried), names(), f.before, failed, err, tried)
	gone, leave := context.WithCancel(ctx)
	leave()
	if _, _, err := runner.RetryCascades(gone); err == nil {
		t.Fatal("a retry of who has gone succeeds")
	}
	if pending, failed, err := runner.Cascades(ctx); pending+len(failed) != 1 || err != nil {
		t.Fatalf("begun again: %d cascades are pending, and %+v have failed, %v; want 1", pending, failed, err)
	}
	if tried, failed, err = runner.RetryCascades(ctx); tried != 1 {
		t.Errorf("%d rows were tried of one that was begun again, want 1", tried)
	}
	check("retried to the end", names(), f.before, failed, err, 1)
	fold(f.shrink)
	failed, err = runner.FailedCascades(ctx)
	check("with room", names(), f.before, failed, err, 1)
	end()
	run()
	fold(f.shrink)
	failed, err = runner.FailedCascades(ctx)
	check("run again", names(), f.before, failed, err, 1)
	tried, failed, err = runner.RetryCascades(ctx)
	check("retried with room", names(), f.after, failed, err, 0)
	if failed, err = runner.FailedCascades(ctx); tried != 1 {
		t.Errorf("%d rows were tried with room, want 1", tried)
	}
	check("after that", names(), f.after, failed, err, 0)
}

// awaitFailed waits until cascades have failed.
func awaitFailed(t *testing.T, runner *projection.Runner) ([]projection.FailedCascade, error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		failed, err := runner.FailedCascades(t.Context())
		if err != nil || len(failed) > 0 || time.Now().After(end) {
			return failed, err
		}
	}
}

// namesBy spells names by identifiers, a long one by its first letter.
func namesBy(names map[string]string) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(names)) {
		name := names[id]
		if len(name) > 10 {
			name = name[:1]
		}
		all = append(all, id+"="+name)
	}
	return strings.Join(all, " ")
}

// TestACopyThatHasNoRoomFollowsWhenItIsRetried: until then it is listed, and the others have followed.
func TestACopyThatHasNoRoomFollowsWhenItIsRetried(t *testing.T) {
	full := strings.Repeat("x", querydb.MaxRowSize-200)
	var sets []ref
	for _, id := range []string{"a", "b", "c"} {
		sets = append(sets, ref{Op: "set", ID: id, Club: "A"})
	}
	sets[1].Text = full
	f := fullRow{
		events: []eventlog.Event{refEvent("", ref{Op: "club", ID: "A", Text: "old"}), refEvent("", sets...)},
		change: refEvent("", ref{Op: "club", ID: "A", Text: strings.Repeat("n", 1000)}),
		shrink: refEvent("", ref{Op: "patchnote", ID: "b", Text: "short"}),
		want: projection.FailedCascade{Code: projection.CascadePartialFailure, Model: "Club", ID: "A", Succeeded: 2,
			Failed: 1},
		reason: `Pick row "b"`, before: "a=n b=old c=n", after: "a=n b=n c=n",
	}
	for name, join := range refStores() {
		t.Run(name, func(t *testing.T) {
			db, log := open(t, join(), clubModel, pickModel), openLog(t)
			runner := refRunner(t, refMode{cascade: true}, log, db, 100)
			f.isRetried(t, runner, log, func() string {
				_, picks := refRows(t, db)
				names := map[string]string{}
				for id, p := range picks {
					names[id] = p.Club.Name
				}
				return namesBy(names)
			})
		})
	}
}

// TestACopyThatAnItemOfAnAggregateHasNoRoomForFollowsWhenItIsRetried: the item of the coach of g2 repeats the season,
// which is long there.
func TestACopyThatAnItemOfAnAggregateHasNoRoomForFollowsWhenItIsRetried(t *testing.T) {
	game := func(id, season string) gameStep {
		return gameStep{Op: "set", ID: id, Game: &Game{ID: id, Season: season, CoachID: "X",
			Home: Side{Players: []Player{{PersonID: "A"}}}}}
	}
	f := fullRow{
		events: []eventlog.Event{gameEvent("", person("X", "old"), person("A", "Ann")),
			gameEvent("", game("g1", "24"), game("g2", strings.Repeat("2", 1500)), game("g3", "25"))},
		shrink: gameEvent("", gameStep{Op: "update", ID: "g2", Changes: []gameChange{{What: "season", Text: "24"}}}),
		want: projection.FailedCascade{Code: projection.CascadePartialFailure, Model: "Person", ID: "X", Succeeded: 2,
			Failed: 1},
		reason: `game#g2`, before: "g1=n g2=old g3=n", after: "g1=n g2=n g3=n",
	}
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		f, s, log, most := f, newStore(), openLog(t), querydb.MaxRowSize
		if s.name == "DynamoDB" {
			most -= 4096 // the store finds out, and not the fold
		}
		f.change = gameEvent("", person("X", strings.Repeat("n", most-1000)))
		p := s.process(t, log, projection.RunnerConfig{WindowEvents: 100})
		f.isRetried(t, p.Runner, log, func() string {
			names := map[string]string{}
			for id, g := range p.standing(t, &anyGames).Games {
				names[id] = g.Coach.Name
			}
			return namesBy(names)
		})
	})
}
