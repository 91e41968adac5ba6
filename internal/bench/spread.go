package main

import (
	"fmt"
	"slices"
	"time"
)

// spread is how long things took.
type spread struct {
	n        int
	p50, p99 time.Duration
	sum      time.Duration
}

// spreadOf sorts what it is given.
func spreadOf(took []time.Duration) spread {
	slices.Sort(took)
	s := spread{n: len(took)}
	for _, d := range took {
		s.sum += d
	}
	if s.n > 0 {
		s.p50, s.p99 = took[s.n/2], took[s.n*99/100]
	}
	return s
}

func (s spread) String() string {
	rate := 0.0
	if s.sum > 0 {
		rate = float64(s.n) / s.sum.Seconds()
	}
	return fmt.Sprintf("p50 %.3f ms, p99 %.3f ms, %.0f/s", s.p50.Seconds()*1000, s.p99.Seconds()*1000, rate)
}
