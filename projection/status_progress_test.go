package projection

import (
	"testing"
	"time"

	"github.com/foldql/foldql/projection/internal/delivery"
)

func TestTheTimeThatTheLagTakesIsGivenInSeconds(t *testing.T) {
	for name, test := range map[string]struct {
		rate float64 // events folded per second
		lag  uint64
		want float64
	}{
		"on the way":       {rate: 100, lag: 9000, want: 90},
		"caught up":        {rate: 100, want: 0},
		"idle and caught":  {want: 0},
		"nothing is known": {lag: 10, want: -1},
	} {
		s := statusOf(&delivery.Snapshot{EventsPerSecond: test.rate})
		s.Lag = test.lag
		p := progress{now: time.Now}
		p.judge(&s, &delivery.Snapshot{}, time.Minute)
		if s.ETASeconds != test.want {
			t.Errorf("%s: %v seconds, want %v", name, s.ETASeconds, test.want)
		}
	}
}
