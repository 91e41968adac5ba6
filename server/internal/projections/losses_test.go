package projections

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLossesAreLookedUpLessOftenWhileNothingChanges, and within seconds again where something does.
func TestLossesAreLookedUpLessOftenWhileNothingChanges(t *testing.T) {
	one, two, needed := lost{letters: 1}, lost{letters: 2}, lost{letters: 1, needed: "others"}
	for name, c := range map[string]struct {
		letters   int
		decisions uint64
		found     lost
		at        []time.Duration // of the next looks, after those that found one
	}{
		"nothing":             {1, 0, one, []time.Duration{time.Minute, time.Minute}},
		"a dead letter":       {2, 0, two, []time.Duration{0, 5 * time.Second, 10 * time.Second}},
		"a decision":          {1, 1, one, []time.Duration{0, 5 * time.Second, 10 * time.Second}},
		"what is lost":        {1, 0, two, []time.Duration{time.Minute, 5 * time.Second, 10 * time.Second}},
		"who needs the rows":  {1, 0, needed, []time.Duration{time.Minute, 5 * time.Second, 5 * time.Second}},
		"all that there were": {0, 1, lost{}, []time.Duration{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l losses
				next := func(letters int, decisions uint64, found lost) time.Duration {
					since := time.Now()
					for l.hold(letters, decisions) {
						time.Sleep(time.Second) // of the bubble's clock
					}
					l.look(letters, decisions, found)
					return time.Since(since)
				}
				for i, want := range []time.Duration{0, 5, 10, 20, 40} {
					if got := next(1, 0, one); got != want*time.Second {
						t.Errorf("look %d at the same: after %v, want %v", i, got, want*time.Second)
					}
				}
				for i, want := range c.at {
					if got := next(c.letters, c.decisions, c.found); got != want {
						t.Errorf("look %d after a change of %s: after %v, want %v", i, name, got, want)
					}
				}
			})
		})
	}
}
