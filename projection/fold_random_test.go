package projection_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// drawStep draws one op over few keys, so that ops meet.
func drawStep(t *rapid.T) Step {
	s := Step{
		Op: rapid.SampledFrom([]string{
			"set", "set", "set", "create", "update", "upsert", "upsert", "upsert", "follow", "follow", "follow",
			"patch", "patch", "patch", "patch", "patch", "patch", "patch", "delete", "wipe", "fail", "panic",
		}).Draw(t, "op"),
		ID:      rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"),
		Version: rapid.SampledFrom([]string{"v1", "v2", "v3", "~current"}).Draw(t, "version"),
		Total:   rapid.IntRange(1, 9).Draw(t, "total"),
		Note:    rapid.SampledFrom([]string{"", "", "", "", "", "", "", "n", "rename", "break"}).Draw(t, "note"),
	}
	if rapid.Bool().Draw(t, "has customer") {
		s.Customer = ptr(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "customer"))
	}
	if rapid.Bool().Draw(t, "has rank") {
		s.Rank = ptr(rapid.IntRange(-2, 2).Draw(t, "rank"))
	}
	if rapid.IntRange(0, 4).Draw(t, "expires") == 0 {
		s.Expires = ptr(epoch.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "at")) * time.Second))
	}
	if s.Op == "follow" && rapid.Bool().Draw(t, "counts") {
		s.Version = counting + "3"
	}
	fields := rapid.SampledFrom([][]string{nil, nil, {"customer"}, {"rank"}, {"customer", "rank"}, {"total"}})
	if s.Op == "patch" {
		s.Clear, s.Remove = fields.Draw(t, "clear"), fields.Draw(t, "remove")
	}
	return s
}

func drawEvents(t *rapid.T) []eventlog.Event {
	events := make([]eventlog.Event, rapid.IntRange(1, 40).Draw(t, "events"))
	for i := range events {
		subject := rapid.SampledFrom([]string{"", "", "", "s1", "s2", "s3", "s4", "s5", "s6"}).Draw(t, "subject")
		events[i] = event(subject, rapid.SliceOfN(rapid.Custom(drawStep), 1, 3).Draw(t, "steps")...)
		events[i].Time = epoch.Add(time.Duration(i-rapid.SampledFrom([]int{0, 0, 0, 1, 6}).Draw(t, "late")) * time.Second)
	}
	return events
}

var errCrash = errors.New("the process ends here")

// crash is a schedule of faults: what happens at the n-th Apply.
type crash struct {
	kind string // "before", "after": the runner is stopped there; "refused", "lost": it goes on
	at   int
}

func drawCrashes(t *rapid.T) []crash {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) crash {
		return crash{
			kind: rapid.SampledFrom([]string{"before", "after", "throttled", "lost"}).Draw(t, "kind"),
			at:   rapid.IntRange(1, 6).Draw(t, "at"),
		}
	}), 0, 6).Draw(t, "crashes")
}

// TestRowsEqualThePureFoldWhateverBreaks folds random events with random windows while commits fail before and after
// they happen and the process ends at either side of them.
func TestRowsEqualThePureFoldWhateverBreaks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := logOf(t, drawEvents(rt)...)
		events, err := log.Read(t.Context(), "0", 0, 1000)
		if err != nil {
			rt.Fatal(err)
		}
		want := newOracle()
		want.fold(events)

		store := newFaultyStore()
		cfg := quick()
		cfg.WindowEvents = rapid.SampledFrom([]int{1, 2, 3, 5, 8, 100}).Draw(rt, "window")
		var last *projection.Runner
		for _, c := range append(drawCrashes(rt), crash{}) {
			last = runUntil(t, rt, store, log, cfg, c)
		}

		db := open(t, store)
		if diff := cmp.Diff(want.rows, rowsOf(t, db, store.keys()), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("rows differ from the pure fold (-want +got):\n%s", diff)
		}
		wantLetters := map[string]bool{}
		for _, offset := range want.deadLetters {
			wantLetters[fmt.Sprintf("0@%d", offset)] = true
		}
		gotLetters := map[string]bool{}
		letters, err := last.DeadLetters(t.Context(), "", 1000)
		if err != nil {
			rt.Fatal(err)
		}
		for _, a := range letters {
			gotLetters[a.Ref] = true
		}
		if diff := cmp.Diff(wantLetters, gotLetters); diff != "" {
			rt.Fatalf("dead letters differ (-want +got):\n%s", diff)
		}
	})
}

// runUntil runs until the end of the log or of the process.
func runUntil(t *testing.T, rt *rapid.T, store *faultyStore, log eventlog.Source, cfg projection.RunnerConfig,
	c crash) *projection.Runner {
	db := open(t, store)
	r := newRunner(t, "script", log, db, cfg)
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	store.fail(c, end)
	if err := r.Run(ctx); err != nil && !errors.Is(err, errCrash) {
		rt.Fatalf("run: %v", err)
	}
	store.before, store.after = nil, nil
	return r
}

// fail has commits of the store fail from now on as the crash says, which may end the process.
func (s *faultyStore) fail(c crash, end context.CancelCauseFunc) {
	start := s.applies
	fault := func(kind string) func(int) error {
		return func(n int) error {
			if c.kind != kind || n-start != c.at {
				return nil
			}
			switch kind {
			case "throttled":
				return driver.ErrThrottled
			case "lost":
				return driver.ErrUnavailable
			}
			end(errCrash)
			return driver.ErrUnavailable
		}
	}
	s.before, s.after = fault("before"), fault("after")
	if c.kind == "throttled" {
		s.before = fault("throttled")
	}
	if c.kind == "lost" {
		s.after = fault("lost")
	}
}
