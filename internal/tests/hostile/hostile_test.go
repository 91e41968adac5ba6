package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/server"
)

// What a run is held to.
const (
	usualRequests = 100_000
	racedRequests = 15_000 // with the race detector, where each takes five times as long
	mostMemory    = 256 << 20
	leastRead     = 30    // in a hundred: requests that get past parsing
	longestText   = 2_000 // bytes of a message
	senders       = 4
)

// TestHostileRequestsChangeNothingAndLearnNothing sends HOSTILE_REQUESTS requests, 100,000 of them, fewer with the race
// detector: whatever comes, no panic, no error of the server's, no code that is not documented, no internals in a
// message, and rows as the accepted events give them. HOSTILE_SEED repeats the requests of a run.
func TestHostileRequestsChangeNothingAndLearnNothing(t *testing.T) {
	seed := setting(t, "HOSTILE_SEED", rand.Uint64())
	usual := uint64(usualRequests)
	if raced {
		usual = racedRequests
	}
	requests := int(setting(t, "HOSTILE_REQUESTS", usual))
	t.Logf("HOSTILE_SEED=%d repeats this run", seed)
	t.Cleanup(server.TuneGC())
	// As with --memory-mb, beside the program and what the store writes from: what is in use beyond that is no garbage
	// which a slow machine collects late.
	limit := debug.SetMemoryLimit(mostMemory / 2)
	t.Cleanup(func() { debug.SetMemoryLimit(limit) })
	s := openShop(t)
	pages, err := harvest(s)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := runtime.NumGoroutine()
	memory := watch()
	began := time.Now()
	r := run{site: s, attacker: newAttacker(seed, s.schema, pages), requests: requests}
	r.all()
	took := time.Since(began)
	after := settled(before + senders)
	memory.stop()
	t.Logf("%d requests in %s, %d MB in use at most, %d MB held, %d MB in memory with all else\n%s",
		requests, took.Round(time.Millisecond), memory.inUse>>20, memory.held>>20, memory.resident>>20, &r.tally)

	for _, f := range r.failures {
		t.Error(f)
	}
	for _, fault := range s.faults.take() {
		t.Errorf("the shop logged an error: %.2000s", fault)
	}
	used := max(memory.inUse, memory.resident)
	// the detector takes far more than the program; a longer run fills the store's cache
	if raced || requests > usualRequests {
		used = memory.inUse
	}
	if used > mostMemory {
		t.Errorf("%d MB of memory were in use, at most %d may be", used>>20, mostMemory>>20)
	}
	if after > before+senders {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	r.tally.check(t, requests)
	r.checkRows(t)
}

// settled counts goroutines, without the gauge, once they are so few, or have had time to end.
func settled(most int) int {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if n := runtime.NumGoroutine() - 1; n <= most || time.Now().After(deadline) {
			return n
		}
	}
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: want a number", name, text)
	}
	return n
}

// run is one attack.
type run struct {
	*site
	*attacker
	requests int

	next atomic.Int64
	mu   sync.Mutex
	tally
	failures []string
}

// all sends every request, from several goroutines.
func (r *run) all() {
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for n := int(r.next.Add(1)) - 1; n < r.requests && !r.lost(); n = int(r.next.Add(1)) - 1 {
				r.one(n)
			}
		})
	}
	sending.Wait()
}

// lost reports whether so much is wrong that the rest need not be tried.
func (r *run) lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) >= 10
}

// one sends one request and verifies its answer.
func (r *run) one(number int) {
	q := r.request(number)
	began := time.Now()
	a, v, err := r.try(q)
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failures = append(r.failures, fmt.Sprintf("request %d: %v\n%s\nanswered %d %.1000q", number, err, q, a.status,
			a.body.String()))
	}
	r.tally.add(number, q, a, &v, took)
}

// try sends a request; a panic is as wrong as can be.
func (r *run) try(q *request) (a *answer, v verdict, err error) {
	a = &answer{}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	a = q.send(r)
	v, err = verify(q, a)
	return a, v, err
}
