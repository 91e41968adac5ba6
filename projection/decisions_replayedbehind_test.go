package projection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb/driver"
)

// TestAnEventBehindARepeatedRetryIsNotOvertaken by the later ones of its subject, where the former code could not fold
// it and this one can: in windows of every length.
func TestAnEventBehindARepeatedRetryIsNotOvertaken(t *testing.T) {
	for _, window := range []int{1, 2, 3, 100} {
		eachStore(t, func(t *testing.T, store func() driver.Driver) {
			log := openLog(t, event("s", needs("x", 1)), event("s", needs("y", 2)), event("", set("x", 10)))
			first := start(t, store(), ended(log), "1")
			if err := first.fold(); err != nil {
				t.Fatal(err)
			}
			serving := first.runner(first.db)
			if err := serving.Retry(t.Context(), "0@1"); err != nil {
				t.Fatal(err)
			}
			add(t, log, 3, event("s", set("y", 4)))
			if err := first.fold(); err != nil {
				t.Fatal(err)
			}
			log.End()
			if diff := cmp.Diff([]string{"0@2", "0@4 behind 0@2"}, deadLettersOf(t, serving)); diff != "" {
				t.Fatalf("dead letters after the retry (-want +got):\n%s", diff)
			}
			next := start(t, store(), log, "2")
			next.p = forgiving(next)
			if err := next.begin(); err != nil {
				t.Fatal(err)
			}
			cfg := quick()
			cfg.WindowEvents = window
			built := runProjection(t, next.p, log, next.build, cfg)
			if left := deadLettersOf(t, built); len(left) > 0 {
				t.Errorf("windows of %d: dead letters %v, want none", window, left)
			}
			if diff := cmp.Diff(map[string]int{"x": 11, "y": 4}, next.totals(next.build.ForFold(""), "x", "y")); diff != "" {
				t.Errorf("windows of %d: rows (-want +got):\n%s", window, diff)
			}
		})
	}
}
