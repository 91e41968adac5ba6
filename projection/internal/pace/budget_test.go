package pace

import (
	"fmt"
	"testing"
	"time"
)

// TestAllWhoShareABudgetTakeNoMoreThanItTogether, however many they are, and each no more than its part: counted in
// steps of a clock that goes on by what each works and pauses.
func TestAllWhoShareABudgetTakeNoMoreThanItTogether(t *testing.T) {
	for _, c := range []struct {
		share         float64
		cpus, members int
	}{{0.5, 2, 1}, {0.5, 2, 2}, {0.5, 2, 11}, {0.25, 8, 3}, {1, 4, 4}, {1, 2, 6}, {0.01, 1, 5}} {
		t.Run(fmt.Sprintf("%v of %d for %d", c.share, c.cpus, c.members), func(t *testing.T) {
			b, err := New(c.share)
			if err != nil {
				t.Fatal(err)
			}
			b.cpus = c.cpus
			all := make([]*Member, c.members)
			for i := range all {
				all[i] = b.Join()
				all[i].Works(true)
				all[i].Works(true) // counts once
			}
			const work, reading = 40 * time.Millisecond, 10 * time.Millisecond
			var worked, passed time.Duration // of one, in a thousand turns
			for range 1000 {
				worked += work + reading
				passed += work + b.Pause(work+reading, work)
			}
			own := float64(worked) / float64(passed)
			if own > max(c.share, 0.001)*1.01 && c.share < 1 {
				t.Errorf("one works %.3f of its time, more than %v", own, c.share)
			}
			if together, most := own*float64(c.members), c.share*float64(c.cpus); c.share < 1 && together > most*1.01 ||
				c.members > c.cpus && together < most*0.99 {
				t.Errorf("all work for %.3f processors, want no more than %.3f, and all of that where they are many",
					together, most)
			}
			for _, m := range all[1:] {
				m.Works(false)
			}
			if got, want := b.Pause(work, work), time.Duration(float64(work)/c.share)-work; got != want {
				t.Errorf("alone one pauses for %s, want %s", got, want)
			}
		})
	}
}

func TestABudgetIsAPart(t *testing.T) {
	for _, share := range []float64{0, -1, 1.1} {
		if _, err := New(share); err == nil {
			t.Errorf("a budget of %v is taken", share)
		}
	}
}
