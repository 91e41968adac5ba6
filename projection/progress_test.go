package projection

import (
	"testing"
	"time"
)

func TestTheTimeThatTheLagTakesIsToldInSeconds(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for name, test := range map[string]struct {
		events uint64 // folded in the last two seconds
		lag    uint64
		want   float64
	}{
		"on the way":       {events: 200, lag: 9000, want: 90},
		"caught up":        {events: 200, want: 0},
		"idle and caught":  {want: 0},
		"nothing is known": {lag: 10, want: -1},
	} {
		p := newProgress(func() time.Time { return now })
		p.samples = []sample{{at: now.Add(-2 * time.Second)}}
		p.events = test.events
		s := p.status()
		s.Lag = test.lag
		p.judge(&s, time.Minute)
		if s.ETASeconds != test.want {
			t.Errorf("%s: %v seconds, want %v", name, s.ETASeconds, test.want)
		}
	}
}
