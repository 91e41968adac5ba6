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

// simulation lets several processes fold one projection on one store. Its dice decide who does the next thing to the
// store, and what happens to it there; whoever has to wait is as one that was frozen. All that happens follows from the
// seed.
type simulation struct {
	dice      *rand.Rand
	store     *memstore.MultiWriter
	opts      memstore.Options
	log       eventlog.Source
	models    []*querydb.Model
	cast      []projection.Projection // what the processes fold, in turns
	cued      int
	faults    int // that are yet to come
	decisions int // retries and skips that are yet to come
	window    int // of every process; 0 for one that the dice choose
}

func newSimulation(seed uint64, log eventlog.Source, ops *OpsOf, opts memstore.Options) *simulation {
	opts.Now = func() time.Time { return epoch }
	return &simulation{
		dice: rand.New(rand.NewPCG(seed, 0)), store: memstore.NewMultiWriter(opts), opts: opts, log: log,
		models: []*querydb.Model{ops.Codec.Model}, cast: []projection.Projection{ProjectionOf("script", ops)},
	}
}

// actor is one process. Each of its calls to the store waits for its turn.
type actor struct {
	*memstore.MultiWriter
	*projection.Runner
	db      *querydb.DB
	part    projection.Projection
	th      *simulation
	staged  bool // its calls wait
	dead    bool
	over    bool // the act has ended, with err
	err     error
	leave   context.CancelFunc
	turn    chan struct{}
	waiting chan struct{}
	ended   chan error
}

// next is the projection whose turn it is to be folded by another process.
func (th *simulation) next() projection.Projection {
	th.cued++
	return th.cast[(th.cued-1)%len(th.cast)]
}

func (th *simulation) actor(part projection.Projection) (*actor, error) {
	a := &actor{
		th: th, part: part,
		turn: make(chan struct{}), waiting: make(chan struct{}), ended: make(chan error, 1),
	}
	opts := th.opts
	opts.Order, opts.Before, opts.After = th.dice.Perm, a.before, a.after
	a.MultiWriter = th.store.Join(opts)
	// Former generations stay: they would be removed in the background, out of turn.
	db, err := querydb.Open(context.Background(), struct {
		driver.Driver
		driver.MultiWriter
		driver.TxLimiter
	}{a, a, a}, th.models, querydb.Config{})
	if err != nil {
		return nil, err
	}
	cfg := quick()
	cfg.WindowEvents, cfg.ParallelReads = 1+th.dice.IntN(12), 1 // one step at a time
	if th.window > 0 {
		cfg.WindowEvents = th.window
	}
	a.db = db
	if a.Runner, err = projection.NewRunner(part, th.log, db, cfg); err != nil {
		return nil, err
	}
	return a, nil
}

// do begins an act of the process, and returns when it waits for its turn or has ended.
func (a *actor) do(act func(context.Context) error) {
	var ctx context.Context
	ctx, a.leave = context.WithCancel(context.Background())
	a.staged, a.over, a.err = true, false, nil
	go func() { a.ended <- act(ctx) }()
	a.rest()
}

// rest returns when the process waits for its turn or has ended: nobody else acts, or throws dice, before.
func (a *actor) rest() {
	select {
	case <-a.waiting:
	case a.err = <-a.ended:
		a.over, a.staged = true, false
	}
}

// step lets the process do one thing to the store, and waits until it is about to do the next. It reports whether the
// act has ended.
func (a *actor) step() (over bool, err error) {
	if !a.over {
		a.turn <- struct{}{}
		a.rest()
	}
	return a.over, a.err
}

// kill ends the process where it is.
func (a *actor) kill() {
	a.dead = true
	a.leave()
	for over := false; !over; {
		over, _ = a.step() // how it ends does not matter
	}
}

// resolve retries or skips one of the dead letters, or has all rebuilt. That this fails, because somebody else has
// done it, or it must wait, is all right.
func (a *actor) resolve(ctx context.Context) error {
	if a.th.dice.IntN(4) == 0 {
		_ = a.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{projection.NewResetNote(a.part.Name)}})
		return nil
	}
	events, err := a.DeadLetters(ctx, "", 1000)
	if err != nil || len(events) == 0 {
		return nil
	}
	e := events[a.th.dice.IntN(len(events))]
	if a.th.dice.IntN(3) == 0 {
		_ = a.Skip(ctx, e.Ref)
	} else {
		_ = a.Retry(ctx, e.Ref)
	}
	return nil
}

func (a *actor) gate() error {
	if a.staged {
		a.waiting <- struct{}{}
		<-a.turn
	}
	if a.dead {
		return fmt.Errorf("%w: the process has ended", driver.ErrUnavailable)
	}
	return nil
}

func (a *actor) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := a.gate(); err != nil {
		return nil, err
	}
	return a.MultiWriter.Get(ctx, g)
}

func (a *actor) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := a.gate(); err != nil {
		return driver.Page{}, err
	}
	return a.MultiWriter.Query(ctx, q)
}

func (a *actor) before(c memstore.Commit) error {
	if err := a.gate(); err != nil {
		return err
	}
	return a.th.fault(driver.ErrThrottled, "refused, or written in part")
}

func (a *actor) after(memstore.Commit) error {
	return a.th.fault(driver.ErrUnavailable, "done, and the answer lost")
}

// fault throws the dice for one of the faults that are left.
func (th *simulation) fault(err error, what string) error {
	if th.faults == 0 || th.dice.IntN(12) > 0 {
		return nil
	}
	th.faults--
	return fmt.Errorf("%w: %s", err, what)
}

// play has processes fold the log to its end; some are killed on the way, and others take their place.
func (th *simulation) play(processes int) error {
	var on []*actor
	enter := func(part projection.Projection, act func(*actor) func(context.Context) error) error {
		a, err := th.actor(part)
		if err == nil {
			a.do(act(a))
			on = append(on, a)
		}
		return err
	}
	run := func(a *actor) func(context.Context) error { return a.Run }
	for range processes {
		if err := enter(th.next(), run); err != nil {
			return err
		}
	}
	for len(on) > 0 {
		if th.decisions > 0 && th.dice.IntN(8) == 0 {
			th.decisions--
			if err := enter(th.next(), func(a *actor) func(context.Context) error { return a.resolve }); err != nil {
				return err
			}
		}
		i := th.dice.IntN(len(on))
		a := on[i]
		for range 1 + th.dice.IntN(20) {
			over, err := a.step()
			if err != nil {
				return err
			}
			if over {
				on = slices.Delete(on, i, i+1)
				break
			}
			if th.faults > 0 && th.dice.IntN(60) == 0 {
				th.faults--
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
func (th *simulation) left() (left, error) {
	th.faults = 0
	a, err := th.actor(th.cast[0])
	if err != nil {
		return left{}, err
	}
	return a.left()
}

func (a *actor) left() (got left, err error) {
	if got.Rows, err = readRows(a.db, a.th.models[0], everyKey()); err != nil {
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
