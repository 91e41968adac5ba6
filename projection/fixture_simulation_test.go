package projection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// simulation lets several processes fold one projection on one store. At random it picks the process that makes the
// next call to the store, and the fault that the call meets; a process that has to wait is like a frozen one. The seed
// determines everything.
type simulation struct {
	random    *rand.Rand
	store     *memstore.MultiWriter
	opts      memstore.Options
	log       eventlog.Source
	models    []*querydb.Model
	folded    []projection.Projection // what new processes fold, in turns
	begun     int
	faults    int // that are yet to come
	decisions int // retries and skips that are yet to come
	window    int // of every process; 0 for a random one
}

func newSimulation(seed uint64, log eventlog.Source, ops *OpsOf, opts memstore.Options) *simulation {
	opts.Now = func() time.Time { return epoch }
	return &simulation{
		random: rand.New(rand.NewPCG(seed, 0)), store: memstore.NewMultiWriter(opts), opts: opts, log: log,
		models: []*querydb.Model{ops.Codec.Model}, folded: []projection.Projection{ProjectionOf("script", ops)},
	}
}

// process is one process. Each of its calls to the store waits for its turn.
type process struct {
	*memstore.MultiWriter
	*projection.Runner
	db       *querydb.DB
	part     projection.Projection
	sim      *simulation
	stepwise bool // its calls wait
	dead     bool
	over     bool // what it does has ended, with err
	err      error
	leave    context.CancelFunc
	turn     chan struct{}
	waiting  chan struct{}
	ended    chan error
}

// next is the projection whose turn it is to be folded by another process.
func (sim *simulation) next() projection.Projection {
	sim.begun++
	return sim.folded[(sim.begun-1)%len(sim.folded)]
}

func (sim *simulation) process(part projection.Projection) (*process, error) {
	a := &process{
		sim: sim, part: part,
		turn: make(chan struct{}), waiting: make(chan struct{}), ended: make(chan error, 1),
	}
	opts := sim.opts
	opts.Order, opts.Before, opts.After = sim.random.Perm, a.before, a.after
	a.MultiWriter = sim.store.Join(opts)
	// Former generations stay: they would be removed in the background, out of turn.
	db, err := querydb.Open(context.Background(), struct {
		driver.Driver
		driver.MultiWriter
		driver.TxLimiter
	}{a, a, a}, sim.models, querydb.Config{})
	if err != nil {
		return nil, err
	}
	cfg := quick()
	cfg.WindowEvents, cfg.ParallelReads = 1+sim.random.IntN(12), 1 // one step at a time
	if sim.window > 0 {
		cfg.WindowEvents = sim.window
	}
	a.db = db
	if a.Runner, err = projection.NewRunner(part, sim.log, db, cfg); err != nil {
		return nil, err
	}
	return a, nil
}

// do has the process begin something, and returns when it waits for its turn or has ended.
func (a *process) do(act func(context.Context) error) {
	var ctx context.Context
	ctx, a.leave = context.WithCancel(context.Background())
	a.stepwise, a.over, a.err = true, false, nil
	go func() { a.ended <- act(ctx) }()
	a.rest()
}

// rest returns when the process waits for its turn or has ended. Before that, no other process acts or draws a number.
func (a *process) rest() {
	select {
	case <-a.waiting:
	case a.err = <-a.ended:
		a.over, a.stepwise = true, false
	}
}

// step lets the process do one thing to the store, and waits until it is about to do the next. It reports whether the
// process is done.
func (a *process) step() (over bool, err error) {
	if !a.over {
		a.turn <- struct{}{}
		a.rest()
	}
	return a.over, a.err
}

// kill ends the process where it is.
func (a *process) kill() {
	a.dead = true
	a.leave()
	for over := false; !over; {
		over, _ = a.step() // how it ends does not matter
	}
}

// resolve retries or skips one of the dead letters, or has all rebuilt. That this fails, because somebody else has
// done it, or it must wait, is all right.
func (a *process) resolve(ctx context.Context) error {
	if a.sim.random.IntN(4) == 0 {
		_ = a.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{projection.NewResetNote(a.part.Name)}})
		return nil
	}
	events, err := a.DeadLetters(ctx, "", 1000)
	if err != nil || len(events) == 0 {
		return nil
	}
	e := events[a.sim.random.IntN(len(events))]
	if a.sim.random.IntN(3) == 0 {
		_ = a.Skip(ctx, e.Ref)
	} else {
		_ = a.Retry(ctx, e.Ref)
	}
	return nil
}

func (a *process) awaitTurn() error {
	if a.stepwise {
		a.waiting <- struct{}{}
		<-a.turn
	}
	if a.dead {
		return fmt.Errorf("%w: the process has ended", driver.ErrUnavailable)
	}
	return nil
}

func (a *process) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := a.awaitTurn(); err != nil {
		return nil, err
	}
	return a.MultiWriter.Get(ctx, g)
}

func (a *process) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := a.awaitTurn(); err != nil {
		return driver.Page{}, err
	}
	return a.MultiWriter.Query(ctx, q)
}

func (a *process) before(c memstore.Commit) error {
	if err := a.awaitTurn(); err != nil {
		return err
	}
	return a.sim.fault(driver.ErrThrottled, "refused, or written in part")
}

func (a *process) after(memstore.Commit) error {
	return a.sim.fault(driver.ErrUnavailable, "done, and the answer lost")
}

// fault returns, at random, one of the faults that are left.
func (sim *simulation) fault(err error, what string) error {
	if sim.faults == 0 || sim.random.IntN(12) > 0 {
		return nil
	}
	sim.faults--
	return fmt.Errorf("%w: %s", err, what)
}

// run has processes fold the log to its end; some are killed on the way, and others take their place.
func (sim *simulation) run(processes int) error {
	var on []*process
	enter := func(part projection.Projection, act func(*process) func(context.Context) error) error {
		a, err := sim.process(part)
		if err == nil {
			a.do(act(a))
			on = append(on, a)
		}
		return err
	}
	run := func(a *process) func(context.Context) error { return a.Run }
	for range processes {
		if err := enter(sim.next(), run); err != nil {
			return err
		}
	}
	for len(on) > 0 {
		if sim.decisions > 0 && sim.random.IntN(8) == 0 {
			sim.decisions--
			if err := enter(sim.next(), func(a *process) func(context.Context) error { return a.resolve }); err != nil {
				return err
			}
		}
		i := sim.random.IntN(len(on))
		a := on[i]
		for range 1 + sim.random.IntN(20) {
			over, err := a.step()
			if err != nil {
				return err
			}
			if over {
				on = slices.Delete(on, i, i+1)
				break
			}
			if sim.faults > 0 && sim.random.IntN(60) == 0 {
				sim.faults--
				a.kill()
				on = slices.Delete(on, i, i+1)
				if err := enter(a.part, run); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// everyKey are the keys that the script's random steps can write.
func everyKey() []keys.Key {
	var ks []keys.Key
	for _, id := range []string{"a", "b"} {
		for _, version := range []string{"v1", "v2", "v3", "~current"} {
			ks = append(ks, keys.Key{PK: id, SK: version})
		}
	}
	return ks
}

// left is what a fold has left in the store.
type left struct {
	Rows        map[Key]stored
	DeadLetters map[string]bool

	tooLarge int // of the dead letters, those that no commit holds
}

// left reads it, as another process.
func (sim *simulation) left() (left, error) {
	sim.faults = 0
	a, err := sim.process(sim.folded[0])
	if err != nil {
		return left{}, err
	}
	return a.left()
}

func (a *process) left() (got left, err error) {
	if got.Rows, err = readRows(a.db, a.sim.models[0], everyKey()); err != nil {
		return left{}, err
	}
	got.DeadLetters = map[string]bool{}
	letters, err := a.DeadLetters(context.Background(), "", 1000)
	for _, e := range letters {
		got.DeadLetters[e.Ref] = true
		if strings.Contains(e.Reason, querydb.ErrTooLarge.Error()) {
			got.tooLarge++
		}
	}
	return got, err
}
