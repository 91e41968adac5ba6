package faultproxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Counts are what a Proxy has seen and done.
type Counts struct {
	Requests   map[string]int // by operation
	Faults     map[Fault]int
	Errors     map[string]int // answers, by the type of the error; those of the proxy's own making too
	Retries    int            // requests that were sent again after a fault that showed
	Conditions int            // conditions that failed
}

// Add adds others to the counts.
func (c *Counts) Add(o Counts) {
	c.Requests, c.Faults, c.Errors = sum(c.Requests, o.Requests), sum(c.Faults, o.Faults), sum(c.Errors, o.Errors)
	c.Retries += o.Retries
	c.Conditions += o.Conditions
}

func sum[K comparable](a, b map[K]int) map[K]int {
	all := maps.Clone(a)
	if all == nil {
		all = map[K]int{}
	}
	for k, n := range b {
		all[k] += n
	}
	return all
}

// AllFaults is the number of faults of every kind.
func (c *Counts) AllFaults() (n int) {
	for _, of := range c.Faults {
		n += of
	}
	return n
}

// String tells the counts in a few lines.
func (c *Counts) String() string {
	requests := 0
	for _, n := range c.Requests {
		requests += n
	}
	return fmt.Sprintf("%d requests (%s)\n%d faults (%s)\n%d retries, %d failed conditions",
		requests, list(c.Requests), c.AllFaults(), list(c.Faults), c.Retries, c.Conditions)
}

func list[K interface {
	comparable
	~string | ~uint8
}](counts map[K]int) string {
	parts := make([]string, 0, len(counts))
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%v %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}

// tally counts while requests come and go.
type tally struct {
	mu     sync.Mutex
	so     Counts
	writes int
	alarms []alarm
	failed map[uint64]bool // digests of requests whose client knows no better than to send them again
}

// alarm is somebody who waits for a number of writes.
type alarm struct {
	at   int
	ring chan struct{}
}

func newTally() tally {
	return tally{so: Counts{Requests: map[string]int{}, Faults: map[Fault]int{}, Errors: map[string]int{}},
		failed: map[uint64]bool{}}
}

func (t *tally) counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	var c Counts
	c.Add(t.so)
	return c
}

func (t *tally) arrived(r *request) {
	digest := r.all()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.so.Requests[r.operation]++
	if t.failed[digest] {
		delete(t.failed, digest)
		t.so.Retries++
	}
	if !r.writes() {
		return
	}
	t.writes++
	t.alarms = slices.DeleteFunc(t.alarms, func(a alarm) bool {
		if t.writes < a.at {
			return false
		}
		close(a.ring)
		return true
	})
}

func (t *tally) afterWrites(n int) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := alarm{t.writes + max(n, 1), make(chan struct{})}
	t.alarms = append(t.alarms, a)
	return a.ring
}

func (t *tally) fault(f Fault, r *request) {
	digest := r.all()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.so.Faults[f]++
	if f.shows() {
		t.failed[digest] = true
	}
}

func (t *tally) answered(a *answer) {
	kind, conditions := a.errorType(), a.conditions()
	t.mu.Lock()
	defer t.mu.Unlock()
	if kind != "" {
		t.so.Errors[kind]++
	}
	t.so.Conditions += conditions
}
