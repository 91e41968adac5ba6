package measurement

import (
	"fmt"
	"slices"
	"time"
)

// Spread is how long things took.
type Spread struct {
	n        int
	P50, P99 time.Duration
	sum      time.Duration
}

// SpreadOf sorts what it is given.
func SpreadOf(took []time.Duration) Spread {
	slices.Sort(took)
	s := Spread{n: len(took)}
	for _, d := range took {
		s.sum += d
	}
	if s.n > 0 {
		s.P50, s.P99 = took[s.n/2], took[s.n*99/100]
	}
	return s
}

// Mean is the average of what was measured, 0 where that is nothing.
func (s Spread) Mean() time.Duration { return s.sum / time.Duration(max(1, s.n)) }

func (s Spread) String() string {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	return fmt.Sprintf("p50 %.3f ms, p99 %.3f ms, mean %.3f ms", ms(s.P50), ms(s.P99), ms(s.Mean()))
}
