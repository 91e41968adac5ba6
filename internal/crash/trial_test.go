package crash

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/crash/judge"
)

// TestRowsAreThoseOfTheEventsWhateverHappened runs real servers over a log, kills and freezes them at random moments, lets
// them come to an end in peace, and compares the whole store with a fold of the log in memory. One seed is one schedule:
// which project, which events, how many of them at once, and what happens when.
//
// FOLDQL_CRASH_SEEDS says how many seeds; FOLDQL_CRASH_SEED repeats one, though not how processes take turns.
func TestRowsAreThoseOfTheEventsWhateverHappened(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about half a minute")
	}
	all := subjects(t)
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			total := &report{}
			defer func() { t.Log(total) }()
			for _, seed := range seeds(t, place.seeds) {
				trial := newTrial(t, seed, all, place)
				trial.run()
				total.add(&trial.report)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// place is a kind of store.
type place struct {
	name  string
	seeds int // of a short run, for each of the projects
	// open makes a store for a trial; the servers get the environment.
	open func(tr *trial) (store string, env []string)
	// settle returns when nothing more will happen to the store of a trial.
	settle  func(tr *trial)
	servers int // that may run at once
}

var places = []place{{
	name: "embedded", seeds: 3, servers: 1,
	open:   func(tr *trial) (string, []string) { return "embedded:" + tr.dir, nil },
	settle: func(*trial) {},
}}

// seeds returns the seeds of a run: as many as asked for, or the one to repeat.
func seeds(t *testing.T, few int) []uint64 {
	t.Helper()
	if s := count(t, "FOLDQL_CRASH_SEED", 0); s != 0 {
		return []uint64{uint64(s)}
	}
	all := make([]uint64, count(t, "FOLDQL_CRASH_SEEDS", few))
	from := uint64(time.Now().UnixNano())
	for i := range all {
		all[i] = from + uint64(i)
	}
	return all
}

// trial is one schedule.
type trial struct {
	*testing.T
	seed  uint64
	rng   *rand.Rand
	on    *subject
	place *place
	dir   string
	file  string // of the events
	lines int
	store string
	slots []*slot
	report
	// alarm, where there is one, returns a channel that is closed after a number of writes.
	alarm func(writes int) <-chan struct{}
}

// newTrial draws a schedule. Seeds in a row take the projects in turns.
func newTrial(t *testing.T, seed uint64, all []*subject, at place) *trial {
	t.Helper()
	tr := &trial{T: t, seed: seed, rng: newRand(seed), on: all[seed%uint64(len(all))], place: &at, dir: t.TempDir()}
	lines := tr.on.events(t, tr.rng)
	tr.lines, tr.file = len(lines), filepath.Join(tr.dir, "events.jsonl")
	tr.seeds, tr.events = 1, len(lines)
	if err := os.WriteFile(tr.file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, env := at.open(tr)
	tr.store = store
	window := []int{1, 3, 10, 40, 200, 4096}[tr.rng.IntN(6)]
	for range 1 + tr.rng.IntN(at.servers) {
		tr.slots = append(tr.slots, &slot{report: &tr.report, launch: func() (*process, error) {
			return launch(tr.on.bin, tr.dir, env, "--store", store, "--events", "file:"+tr.file, "--window", fmt.Sprint(window))
		}})
	}
	t.Logf("FOLDQL_CRASH_SEED=%d: %s, %d events, %d at once, %d servers", seed, tr.on.name, tr.lines, window, len(tr.slots))
	return tr
}

// run lets the schedule happen, and judges what is left.
func (tr *trial) run() {
	tr.Helper()
	defer func() {
		for _, s := range tr.slots {
			if s.p != nil {
				s.p.kill()
			}
		}
		if tr.Failed() {
			tr.Logf("FOLDQL_CRASH_SEED=%d repeats it; what the servers said is lost with this directory: %s", tr.seed, tr.dir)
		}
	}()
	ctx, cancel := context.WithTimeout(tr.Context(), 3*time.Minute)
	defer cancel()
	for range 3 + tr.rng.IntN(6) {
		tr.allUp()
		tr.wait()
		tr.strike(ctx)
	}
	if len(tr.slots) > 1 && tr.rng.IntN(2) == 0 {
		tr.zombie(ctx)
	}
	for _, s := range tr.slots {
		s.kill()
	}
	tr.finish(ctx)
	tr.listen()
	tr.judge(ctx)
}

func (tr *trial) allUp() {
	tr.Helper()
	for _, s := range tr.slots {
		if err := s.up(); err != nil {
			tr.Fatal(err)
		}
	}
}

// wait lets some work be done: so many writes, where they can be seen, and no longer than some time.
func (tr *trial) wait() {
	var ring <-chan struct{}
	most := time.Duration(tr.rng.IntN(250)) * time.Millisecond
	if tr.alarm != nil {
		ring = tr.alarm(1 + tr.rng.IntN(1+tr.rng.IntN(200)))
		most += 500 * time.Millisecond
	}
	select {
	case <-ring:
	case <-time.After(most): // the moment is to be a random one
	}
}

// strike does something to one of the servers.
func (tr *trial) strike(ctx context.Context) {
	s := tr.slots[tr.rng.IntN(len(tr.slots))]
	switch n := tr.rng.IntN(10); {
	case n < 5:
		s.kill()
	case n < 6:
		for _, s := range tr.slots {
			s.kill()
		}
	case n < 8:
		s.freeze()
		tr.wait()
		if tr.rng.IntN(2) == 0 { // a server may die while another is frozen
			tr.slots[tr.rng.IntN(len(tr.slots))].kill()
		}
		s.wake()
	default:
		s.mend(ctx, tr.rng.IntN(1000), []string{"retry", "retry", "skip"}[tr.rng.IntN(3)])
	}
}

// zombie freezes a server amid its work until another has done it all.
func (tr *trial) zombie(ctx context.Context) {
	tr.Helper()
	tr.allUp()
	tr.wait()
	tr.slots[0].freeze()
	if err := tr.slots[1].up(); err != nil {
		tr.Fatal(err)
	}
	patience, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if tr.slots[1].p.reach(patience, uint64(tr.lines)) == nil {
		tr.zombies++
	}
	tr.slots[0].wake()
	tr.wait()
}

// finish lets one server come to the end, and stop.
func (tr *trial) finish(ctx context.Context) {
	tr.Helper()
	tr.place.settle(tr)
	p, err := tr.slots[0].launch()
	if err != nil {
		tr.Fatal(err)
	}
	tr.slots[0].p = p
	p.caughtUp(ctx, tr.T, uint64(tr.lines))
	p.stop(tr.T)
	tr.slots[0].p = nil
}

// listen fails the test where a server has said that its memory was raced for, or that it has panicked.
func (tr *trial) listen() {
	tr.Helper()
	logs, err := filepath.Glob(filepath.Join(tr.dir, "log-*"))
	if err != nil || len(logs) == 0 {
		tr.Fatalf("no server has said anything: %v", err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			tr.Fatal(err)
		}
		for _, word := range []string{"WARNING: DATA RACE", "fatal error: ", "panic: runtime error"} {
			if at := bytes.Index(text, []byte(word)); at >= 0 {
				tr.Errorf("a server said:\n%s", text[at:min(len(text), at+4000)])
			}
		}
	}
}

// judge compares the store with the events.
func (tr *trial) judge(ctx context.Context) *judge.Verdict {
	tr.Helper()
	v, err := tr.on.judge(ctx, tr.store, tr.file)
	if err != nil {
		tr.Fatal(err)
	}
	for _, d := range v.Differences {
		tr.Error(d)
	}
	if v.More > 0 {
		tr.Errorf("… and %d more differences", v.More)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Counts)) {
		if strings.Contains(name, "/") {
			tr.entries += v.Counts[name]
		} else {
			tr.rows += v.Counts[name]
		}
	}
	tr.aside += v.Aside
	return v
}
