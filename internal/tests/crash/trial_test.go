package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/crash/ledger/release"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
)

// trial is one schedule: servers over a log that are killed and frozen at random moments, and come to an end in peace.
type trial struct {
	seed   uint64
	rng    *rand.Rand
	on     *subject
	dir    string   // of its own
	file   string   // of the events
	whole  []string // the events of the log in the end, as lines
	lines  []string // those that it has so far
	copied []string // those that it had when the world kept a copy of its rows
	window int      // events that are committed at once
	pace   int      // writes between two strikes, at most
	long   bool     // it is of so many events that no data is lost in it
	// commitWithin is how long a commit may take.
	commitWithin time.Duration
	world        world
	args, env    []string // of servers
	slots        []*slot
	stream       *stream     // nil where the log is in files
	deployed     atomic.Bool // a server of the next release was started
	next         string      // the name of that release
	asker        *asker
	report       report
}

// world is where the rows of a trial are.
type world interface {
	// store names the store as a command line does.
	store() string
	// servers are the arguments and the environment of a server.
	servers() (args, env []string)
	// most is how many servers may run at once.
	most() int
	// oneMoment says that a page shows what there was at one moment.
	oneMoment() bool
	// afterWrites returns a channel that is closed after a number of writes, nil where nobody sees them.
	afterWrites(n int) <-chan struct{}
	// forget removes what word there is of deleted rows, and says of how many.
	forget(ctx context.Context) (int, error)
	// lose takes rows away, or brings older ones back, while no server runs.
	lose(ctx context.Context, tr *trial) error
	// makeTables makes the tables that are missing.
	makeTables(ctx context.Context, tr *trial) error
	// calm ends what disturbs the servers; settle returns when nothing that has begun before is still to happen.
	calm()
	settle()
	// check looks at what lies in the store, without the driver's help.
	check(ctx context.Context, v *verifier.Verdict) error
	// end gives back what the world holds, and says what happened in it.
	end(r *report) error
}

// newTrial draws a schedule.
func newTrial(t testing.TB, seed uint64, on *subject, open func(tr *trial) (world, error)) (*trial, error) {
	dir := t.TempDir()
	tr := &trial{seed: seed, rng: newRand(seed), on: on, dir: dir, file: filepath.Join(dir, "events.jsonl"), pace: 200}
	lines, err := tr.on.events(tr.rng)
	if err != nil {
		return nil, err
	}
	if on.stream {
		if tr.stream, err = newStream(t); err != nil {
			return nil, err
		}
		tr.next = []string{release.Next, release.Exchanged}[tr.rng.IntN(2)]
	}
	windows := on.windows
	if windows == nil {
		windows = []int{1, 3, 10, 40, 200, 4096}
	}
	tr.window = windows[tr.rng.IntN(len(windows))]
	switch most := min(len(lines), mostEvents()); { // small windows take their time
	case on.stream: // it is folded by two releases
		lines = lines[:min(most, 100+10*tr.window, 1000)]
	case !on.cascades:
		lines = lines[:min(most, 100+100*tr.window)]
	}
	return tr, tr.prepare(lines, open)
}

// mostEvents is how many events a trial has at most: few where nobody asks for many trials and the race detector makes
// each event take ten times as long.
func mostEvents() int {
	if raceDetector && os.Getenv("CRASH_SEEDS") == "" {
		return 150
	}
	return math.MaxInt
}

// newLongTrial draws a schedule for all events of the registry.
func newLongTrial(dir string, seed uint64, on *subject, open func(tr *trial) (world, error)) (*trial, error) {
	lines, err := allRegistryLines()
	if err != nil {
		return nil, err
	}
	tr := &trial{seed: seed, rng: newRand(seed), on: on, dir: dir, file: filepath.Join(dir, "events.jsonl"), pace: 8000,
		window: 1000, long: true}
	return tr, tr.prepare(lines, open)
}

// prepare writes the log, and makes a world and servers that are not started yet.
func (tr *trial) prepare(lines []string, open func(tr *trial) (world, error)) (err error) {
	tr.asker, tr.whole = &asker{}, lines
	tr.report.seeds, tr.report.events = 1, len(lines)
	if !tr.long {
		lines = lines[:1+tr.rng.IntN(len(lines))]
		if tr.on.cascades {
			lines = tr.whole[:len(tr.whole)-tr.rng.IntN(len(tr.whole)/10)]
		}
	}
	if err := tr.logIs(lines); err != nil {
		return err
	}
	tr.commitWithin = 10 * time.Minute
	if tr.world, err = open(tr); err != nil {
		return err
	}
	tr.args, tr.env = tr.world.servers()
	tr.args = append(tr.args, "--events", tr.log(), "--window", fmt.Sprint(tr.window), "--commit-timeout",
		tr.commitWithin.String(), "--project-timeout", "2s")
	servers := 1 + tr.rng.IntN(3)
	if tr.on.pair {
		servers = 2
	}
	for range min(servers, tr.world.most()) {
		tr.slots = append(tr.slots, tr.newSlot(tr.args, tr.env))
	}
	return nil
}

// log names the log as a command line does.
func (tr *trial) log() string {
	if tr.stream != nil {
		return tr.stream.url()
	}
	return "file:" + tr.file
}

// newSlot makes a place for a server with the arguments and more environment.
func (tr *trial) newSlot(args, env []string) *slot {
	store, _, _ := strings.Cut(tr.world.store(), ":")
	tr.report.amid.add(store, 0)
	return &slot{report: &tr.report, store: store, amid: tr.asker.amid, launch: func() (*process, error) {
		p, err := launch(tr.on.bin, tr.dir, env, args...)
		if err == nil {
			tr.asker.listens(p.url)
		}
		return p, err
	}}
}

func (tr *trial) String() string {
	return fmt.Sprintf("CRASH_SEED=%d: %s, %d events, %d at once, %d servers", tr.seed, tr.on.name, len(tr.whole),
		tr.window, len(tr.slots))
}

// run lets the schedule happen, and verifies what is left.
func (tr *trial) run(ctx context.Context) (v *verifier.Verdict, err error) {
	defer func() {
		for _, s := range tr.slots {
			s.kill()
		}
		err = errors.Join(err, tr.world.end(&tr.report))
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Hour) // for the worst: a server that stands still is noticed before
	defer cancel()
	asking := tr.ask(ctx)
	meanwhile := tr.disturb
	if tr.on.pair {
		meanwhile = tr.together
	}
	if err := meanwhile(ctx); err != nil {
		return nil, errors.Join(err, asking())
	}
	tr.killAll()
	if err := tr.logIs(tr.whole); err != nil {
		return nil, errors.Join(err, asking())
	}
	tr.world.calm()
	if tr.stream != nil {
		if err := tr.retire(ctx); err != nil {
			return nil, errors.Join(err, asking())
		}
	}
	if err := errors.Join(tr.finish(ctx), asking()); err != nil {
		return nil, err
	}
	tr.world.settle()
	if v, err = tr.verify(ctx); err != nil {
		return nil, err
	}
	tr.report.verified(v)
	return v, errors.Join(tr.listen(), tr.world.check(ctx, v))
}

// disturb kills and freezes servers while they fold.
func (tr *trial) disturb(ctx context.Context) error {
	for range 3 + tr.rng.IntN(6) {
		if err := tr.allUp(); err != nil {
			return err
		}
		if tr.on.cascades {
			tr.amidCascade(ctx)
		}
		tr.wait()
		tr.strike(ctx)
		var err error
		switch n := tr.rng.IntN(4); {
		case tr.long:
		case tr.stream != nil:
			err = tr.evolve(ctx)
		case n == 0 && tr.on.partitions > 1: // what there is of a log that is shorter, by its partitions, is another matter
		case n == 0:
			err = tr.disaster(ctx)
		case n == 1:
			err = tr.grow()
		}
		if err != nil {
			return err
		}
	}
	if len(tr.slots) > 1 && tr.rng.IntN(2) == 0 {
		return tr.zombie(ctx)
	}
	return nil
}

// together has all servers fold side by side, to the end or for some time.
func (tr *trial) together(ctx context.Context) error {
	if err := errors.Join(tr.logIs(tr.whole), tr.allUp()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_ = tr.slots[0].reach(ctx, len(tr.lines)) // one server will, in peace
	return nil
}

func (tr *trial) killAll() {
	for _, s := range tr.slots {
		s.kill()
	}
}

func (tr *trial) allUp() error {
	for _, s := range tr.slots {
		if err := s.up(); err != nil {
			return err
		}
	}
	return nil
}

// wait lets some work be done: so many writes, where they can be seen, and no longer than some time.
func (tr *trial) wait() {
	most := time.Duration(tr.rng.IntN(tr.pace)) * time.Millisecond
	ring := tr.world.afterWrites(1 + tr.rng.IntN(1+tr.rng.IntN(tr.pace)))
	if ring != nil {
		most += 500 * time.Millisecond
	}
	select {
	case <-ring:
	case <-time.After(most): // the moment is to be a random one
	}
}

// strike does something to one of the servers, or to all.
func (tr *trial) strike(ctx context.Context) {
	s := tr.slots[tr.rng.IntN(len(tr.slots))]
	switch n := tr.rng.IntN(10); {
	case n < 5:
		s.kill()
	case n < 6:
		tr.killAll()
	case n < 8:
		s.freeze()
		tr.wait()
		if tr.rng.IntN(2) == 0 { // a server may die while another is frozen
			tr.slots[tr.rng.IntN(len(tr.slots))].kill()
		}
		s.wake()
	default:
		for range 1 + tr.rng.IntN(5) {
			how := []string{"retry", "skip"}[tr.rng.IntN(2)]
			if tr.on.partitions > 1 {
				how = "retry" // whether there is one to be skipped hangs on how partitions take turns
			}
			s.decideAny(ctx, tr.rng.IntN(1000), how)
		}
	}
}

// zombie freezes a server amid its work until another has done it all, deletes included, and wakes it then. Where
// commits may take a short time only, it sleeps so long that the store has forgotten what was deleted.
func (tr *trial) zombie(ctx context.Context) error {
	if err := tr.allUp(); err != nil {
		return err
	}
	tr.wait()
	tr.slots[0].freeze()
	began := time.Now()
	if err := tr.slots[1].up(); err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if tr.slots[1].reach(patience, len(tr.lines)) == nil && tr.slots[0].frozen {
		tr.report.zombies++
		if tr.commitWithin < time.Minute {
			time.Sleep(time.Until(began.Add(tr.commitWithin + 2*time.Second))) // it is time that must have passed
			n, err := tr.world.forget(ctx)
			if err != nil {
				return err
			}
			tr.report.forgotten += n
		}
	}
	tr.slots[0].wake()
	tr.wait()
	tr.wait()
	return nil
}

// finish lets one server come to the end, and stop.
func (tr *trial) finish(ctx context.Context) error {
	s := tr.slots[0]
	if err := s.up(); err != nil {
		return err
	}
	if err := s.reach(ctx, len(tr.lines)); err != nil {
		return err
	}
	p := s.p
	s.p = nil
	return p.end()
}

// listen fails where a server has said that its memory was raced for, or that it has panicked.
func (tr *trial) listen() error {
	logs, err := filepath.Glob(filepath.Join(tr.dir, "log-*"))
	if err != nil || len(logs) == 0 {
		return fmt.Errorf("no server has said anything: %w", err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		for _, word := range []string{"WARNING: DATA RACE", "fatal error: ", "panic: runtime error"} {
			if at := bytes.Index(text, []byte(word)); at >= 0 {
				return fmt.Errorf("a server said:\n%s", text[at:min(len(text), at+4000)])
			}
		}
	}
	return nil
}
