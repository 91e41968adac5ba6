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

func (s spread) mean() time.Duration { return s.sum / time.Duration(max(1, s.n)) }

func (s spread) String() string {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	return fmt.Sprintf("p50 %.3f ms, p99 %.3f ms, mean %.3f ms", ms(s.p50), ms(s.p99), ms(s.mean()))
}
