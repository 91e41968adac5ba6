package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// limitedLog is a log of which a reader sees so many events at first, and the others, with the log's end, after
// release.
type limitedLog struct {
	eventlog.Log
	mu       sync.Mutex
	most     uint64
	shown    uint64 // is read all the same, when it is asked for alone
	released chan struct{}
}

func hold(log eventlog.Log, most int) *limitedLog {
	return &limitedLog{Log: log, most: uint64(most), released: make(chan struct{})}
}

func (l *limitedLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = 1 << 60
	close(l.released)
}

func (l *limitedLog) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	l.mu.Lock()
	most := l.most
	l.mu.Unlock()
	if after >= most && !(n == 1 && after+1 == l.shown) {
		return nil, nil
	}
	return l.Log.Read(ctx, partition, after, max(1, min(n, int(most-min(after, most)))))
}

func (l *limitedLog) Wait(ctx context.Context, after eventlog.Offsets) error {
	select {
	case <-l.released:
		return waitOrEnd(ctx, l.Log, after)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// decisionCase is what is decided about an event in the rows that serve while others are built.
type decisionCase struct {
	name  string
	do    func(*projection.Runner, context.Context, string) error
	event string
	after map[string]int // rows when all of the log is folded
	left  []string       // dead letters that are left then
}

// The rows hang on when 0@2 is tried again: event 9 sets what it changes.
func decisionCases() []decisionCase {
	behind := map[string]int{"a": 5, "o": 7}
	return []decisionCase{
		{"skip", (*projection.Runner).Skip, "0@7", map[string]int{"a": 5, "o": 7},
			[]string{"0@2", "0@4 behind 0@2", "0@6 behind 0@2"}},
		{"skip of one that blocks others", (*projection.Runner).Skip, "0@2", behind, []string{"0@7"}},
		{"retry", (*projection.Runner).Retry, "0@2", behind, []string{"0@7"}},
	}
}

// TestADecisionHoldsForRowsThatAreBuilt beside those in which it was made: before and after these come to the event,
// in a build that goes on and in one that is begun again, and the event takes effect in both at the same place.
func TestADecisionHoldsForRowsThatAreBuilt(t *testing.T) {
	for _, c := range decisionCases() {
		for at := 1; at <= 8; at++ {
			for _, restarted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, at %d, restarted %t", c.name, at, restarted), func(t *testing.T) {
					eachStore(t, func(t *testing.T, store func() driver.Driver) { decideWhileBuilt(t, store, c, at, restarted) })
				})
			}
		}
	}
}

func decideWhileBuilt(t *testing.T, store func() driver.Driver, c decisionCase, at int, restarted bool) {
	log := openLog(t, broken()...)
	first := start(t, store(), ended(log), "1")
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	held := hold(log, at)
	second := start(t, store(), held, "2")
	if err := second.begin(); err != nil {
		t.Fatal(err)
	}
	build, run := second.runBeside()
	run.reaches(t, build, at)

	serving := first.runner(first.db)
	if err := c.do(serving, t.Context(), c.event); err != nil {
		t.Fatal(err)
	}
	second.told(build)
	add(t, log, 8, event("maker", set("a", 5)))
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	if restarted {
		run.stop()
		if err := run.wait(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		build, run = second.runBeside()
	}
	held.release()
	log.End()
	if err := run.wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.left, deadLettersOf(t, build)); diff != "" {
		t.Errorf("dead letters of the build (-want +got):\n%s", diff)
	}
	wantBoth(t, first, second, c.after)
}

// wantBoth compares the rows that serve and those that are built.
func wantBoth(t *testing.T, serving, building *program, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, serving.totals(serving.db, "a", "o")); diff != "" {
		t.Errorf("rows that serve (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, building.totals(building.build.ForFold(""), "a", "o")); diff != "" {
		t.Errorf("rows that are built (-want +got):\n%s", diff)
	}
}

// told has the build know what was decided: on a store with one writer by a word, on others by itself.
func (g *program) told(build *projection.Runner) {
	g.Helper()
	if g.db.MultiWriter() {
		return
	}
	if err := build.ReadDecisions(g.Context()); err != nil {
		g.Fatal(err)
	}
}

// TestARetryIsMadeAtOnceInRowsThatArePastIt, and not again when they are folded further.
func TestARetryIsMadeAtOnceInRowsThatArePastIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, broken()...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		add(t, log, 8, event("other", upsert("o", 8)))
		second := start(t, store(), ended(log), "2")
		second.foldBeside()
		if err := first.runner(first.db).Retry(t.Context(), "0@2"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			second.foldBeside()
			if got := deadLettersOf(t, second.runner(second.build)); len(got) != 1 || got[0] != "0@7" {
				t.Errorf("dead letters of the build: %v, want 0@7 alone", got)
			}
		}
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		wantBoth(t, first, second, map[string]int{"a": 1111, "o": 15})
	})
}

// TestARetryIsNotMadeTwice: neither in rows that have folded the event at its own place, since their version could,
// nor, where it is made in rows that are built, in those that serve.
func TestARetryIsNotMadeTwice(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, broken()...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		held := hold(log, 6)
		second := start(t, store(), held, "2")
		second.p = forgiving(second)
		if err := second.begin(); err != nil {
			t.Fatal(err)
		}
		build, run := second.runBeside()
		run.reaches(t, build, 6)
		if err := first.runner(first.db).Retry(t.Context(), "0@2"); err != nil {
			t.Fatal(err)
		}
		second.told(build)
		run.stop()
		if err := run.wait(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		held.release()
		second.foldBeside()
		want := map[string]int{"a": 1001, "o": 7} // 10 and 100 came before a was set to 1
		if diff := cmp.Diff(want, second.totals(second.build.ForFold(""), "a", "o")); diff != "" {
			t.Errorf("rows that are built (-want +got):\n%s", diff)
		}
	})
}

// TestARetryInVainLeavesWhatARebuildLeaves: the same is on record of a dead letter, whoever has tried it last.
func TestARetryInVainLeavesWhatARebuildLeaves(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := start(t, store(), ended(openLog(t, broken()...)), "1")
		if err := g.fold(); err != nil {
			t.Fatal(err)
		}
		if err := g.runner(g.db).Retry(t.Context(), "0@7"); err == nil {
			t.Fatal("the event is folded")
		}
		was := g.letters()
		again, err := projection.NewRunner(g.p, g.log, g.db, quick())
		if err == nil {
			err = again.Rebuild(t.Context())
		}
		if err == nil {
			err = again.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, g.letters()); diff != "" || len(was) == 0 {
			t.Errorf("dead letters (-after a retry in vain +after a rebuild):\n%s", diff)
		}
	})
}

// letters are what is on record of the dead letters of the rows that serve, but for their numbers.
func (g *program) letters() map[string]map[string]any {
	g.Helper()
	var at struct {
		Table      string
		Generation int
	}
	header, err := g.db.Notes().Value(g.Context(), "projection", "script")
	if err == nil {
		err = json.Unmarshal(header, &at)
	}
	if err != nil {
		g.Fatal(err)
	}
	kind := fmt.Sprintf("deadletter:%s.g%d:script", at.Table, at.Generation)
	notes, err := g.db.Notes().List(g.Context(), kind, "", 100)
	if err != nil {
		g.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, n := range notes {
		var letter map[string]any
		if err := json.Unmarshal(n.Value, &letter); err != nil {
			g.Fatal(err)
		}
		delete(letter, "number") // a retry is no attempt of the fold
		all[n.ID] = letter
	}
	return all
}

// forgiving is the projection of a program that makes rows which the former one has missed.
func forgiving(g *program) projection.Projection {
	p := ProjectionOf("script", g.ops)
	project := p.Project
	p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		changed := *e
		changed.Data = []byte(strings.ReplaceAll(string(e.Data), `"update"`, `"upsert"`))
		return project(&changed, m)
	}
	return p
}

// TestABuildTriesAnEventWhereItWasTriedBeforeItIsTriedAgain: it has passed the event over, and would lose it where
// another decision took the place of the former.
func TestABuildTriesAnEventWhereItWasTriedBeforeItIsTriedAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, broken()...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		serving := first.runner(first.db)
		if err := serving.Retry(t.Context(), "0@7"); err == nil { // tries it after event 8
			t.Fatal("the event is folded")
		}
		held := hold(log, 7)
		second := start(t, store(), held, "1")
		if err := second.begin(); err != nil {
			t.Fatal(err)
		}
		build, run := second.runBeside()
		run.reaches(t, build, 7)
		add(t, log, 8, event("other", upsert("o", 8)))
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		again := func() error { return first.runner(first.db).Retry(t.Context(), "0@7") }
		if err := again(); err == nil || !strings.Contains(err.Error(), "are yet to try event 0@7 after event 8") {
			t.Errorf("retried again, while a build awaits it: %v", err)
		}
		held.release()
		log.End()
		if err := run.wait(); err != nil {
			t.Fatal(err)
		}
		if err := again(); err == nil || !strings.Contains(err.Error(), "failed again") {
			t.Errorf("retried again after that: %v, want that it has failed", err)
		}
		left := []string{"0@2", "0@4 behind 0@2", "0@6 behind 0@2", "0@7"}
		for rows, r := range map[string]*projection.Runner{"serve": serving, "are built": build} {
			if diff := cmp.Diff(left, deadLettersOf(t, r)); diff != "" {
				t.Errorf("dead letters of the rows that %s (-want +got):\n%s", rows, diff)
			}
		}
	})
}

// TestAnEventCanBeSkippedBeforeABuildComesToIt where nobody of the program folds the rows whose dead letter it is.
func TestAnEventCanBeSkippedBeforeABuildComesToIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, broken()...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		held := hold(log, 1)
		held.shown = 7
		second := start(t, store(), held, "2")
		if err := second.begin(); err != nil {
			t.Fatal(err)
		}
		build, run := second.runBeside()
		run.reaches(t, build, 1)
		if err := build.Retry(t.Context(), "0@7"); err == nil || !strings.Contains(err.Error(), "have not come to it") {
			t.Errorf("a retry: %v, want it to say that the build tries the event when it comes to it", err)
		}
		for _, event := range []string{"0@7", "0@7"} { // the second time nothing is left to do
			if err := build.Skip(t.Context(), event); err != nil {
				t.Fatal(err)
			}
		}
		if err := build.Skip(t.Context(), "0@5"); !errors.Is(err, projection.ErrNoDeadLetter) {
			t.Errorf("a skip of an event that is nowhere a dead letter: %v, want ErrNoDeadLetter", err)
		}
		held.release()
		if err := run.wait(); err != nil {
			t.Fatal(err)
		}
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]*projection.Runner{"serving": first.runner(first.db), "built": build} {
			if diff := cmp.Diff([]string{"0@2", "0@4 behind 0@2", "0@6 behind 0@2"}, deadLettersOf(t, r)); diff != "" {
				t.Errorf("dead letters of the rows %s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// running is a Run in the background.
type running struct {
	stop context.CancelFunc
	done chan error
}

func (g *program) runBeside() (*projection.Runner, *running) {
	g.Helper()
	return inBackground(g.T, g.runner(g.build))
}

func inBackground(t *testing.T, r *projection.Runner) (*projection.Runner, *running) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	run := &running{stop, make(chan error, 1)}
	go func() { run.done <- r.Run(ctx) }()
	t.Cleanup(stop)
	return r, run
}

func (r *running) wait() error {
	select {
	case err := <-r.done:
		return err
	case <-time.After(30 * time.Second):
		return errors.New("the run has not ended within 30 s")
	}
}

// reaches waits until the rows are as far as the offset.
func (r *running) reaches(t *testing.T, of *projection.Runner, offset int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := of.Await(ctx, eventlog.Offsets{"0": uint64(offset)}); err != nil {
		t.Fatal(err)
	}
}
