package projection_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
)

func status(t *testing.T, r *projection.Runner) projection.Status {
	t.Helper()
	s, err := r.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gate lets a test see a runner wait, and holds its commits.
type gate struct {
	eventlog.Log
	idle chan struct{}
}

func (g *gate) Wait(ctx context.Context, after eventlog.Offsets) error {
	select {
	case g.idle <- struct{}{}:
	case <-ctx.Done():
	}
	return g.Log.Wait(ctx, after)
}

func (g *gate) Head(ctx context.Context, partition string) (uint64, error) {
	return g.Log.Head(ctx, partition)
}

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestStatusFollowsARunner(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	log := &gate{openLog(t, event("", upsert("a", 1))), make(chan struct{})}
	c := &clock{at: epoch}
	cfg := quick()
	cfg.Now, cfg.ExplainError = c.now, func(err error) error { return fmt.Errorf("%w: mount another one", err) }
	r := newRunner(t, "script", log, db, cfg)
	if s := status(t, r); s.State != projection.StateStopped || s.CheckHealth(c.now(), time.Minute) == nil {
		t.Errorf("before Run: %+v, want it stopped and not healthy", s)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	<-log.idle
	await(t, r, projection.StateLive)
	s := status(t, r)
	if err := s.CheckHealth(c.now(), time.Minute); err != nil {
		t.Errorf("live: %v", err)
	}
	if s.Partitions[0] != (projection.PartitionStatus{Partition: "0", Checkpoint: 1, Head: 1, HeadKnown: true}) {
		t.Errorf("live: %+v", s.Partitions)
	}

	c.move(time.Hour)
	if s := status(t, r); s.CheckHealth(c.now(), time.Minute) == nil {
		t.Error("no sign of life for an hour, and it is called healthy")
	}

	failing := make(chan struct{}, 100)
	store.mu.Lock()
	store.before = func(int) error {
		select {
		case failing <- struct{}{}:
		default: // attempts go on, however long nobody looks; the store is locked meanwhile
		}
		return errors.New("the disk is gone")
	}
	store.mu.Unlock()
	add(t, log.Log.(*memlog.Log), 1, event("", upsert("a", 2)))
	<-failing
	<-failing
	await(t, r, projection.StateStalled)
	if s := status(t, r); !strings.Contains(s.LastError, "the disk is gone: mount another one") || s.Lag != 1 {
		t.Errorf("stalled: %+v, want the error, explained, and a lag of 1", s)
	}

	store.mu.Lock()
	store.before = nil
	store.mu.Unlock()
	for drained := false; !drained; {
		select {
		case <-failing:
		case <-log.idle:
			drained = true
		}
	}
	await(t, r, projection.StateLive)
	if s := status(t, r); s.LastError != "" {
		t.Errorf("live again: error %q is still shown", s.LastError)
	}
	stop()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want the context's error", err)
	}
	if s := status(t, r); s.State != projection.StateStopped {
		t.Errorf("after Run: %s, want stopped", s.State)
	}
	if got := totals(t, db, store)["a"]; got != 3 {
		t.Errorf("total is %d, want 3", got)
	}
}

// TestAWriteThatFailsOnceLeavesNothingBehind has each write of a start fail once, and then none: the Runner is live,
// shows no error, and the layout of its rows is on record as if nothing had happened.
func TestAWriteThatFailsOnceLeavesNothingBehind(t *testing.T) {
	for fails := 1; ; fails++ {
		store := newFaultyStore()
		db := open(t, store)
		log := &gate{openLog(t, event("", upsert("a", 1))), make(chan struct{})}
		store.before = func(n int) error {
			if n == fails {
				return errors.New("the disk is full")
			}
			return nil
		}
		ctx, stop := context.WithCancel(t.Context())
		r := newRunner(t, "script", log, db, quick())
		ran := make(chan error, 1)
		go func() { ran <- r.Run(ctx) }()
		<-log.idle
		for described, deadline := false, time.Now().Add(time.Minute); !described; time.Sleep(time.Millisecond) {
			layout, err := db.Generations().Layout(ctx, Model, db.Generations().InUse(Model))
			s := status(t, r)
			described = err == nil && layout != nil && s.State == projection.StateLive && s.LastError == ""
			if time.Now().After(deadline) {
				t.Fatalf("write %d failed once: %s, error %q, layout %v (%v)", fails, s.State, s.LastError, layout, err)
			}
		}
		stop()
		<-ran
		if store.applies < fails {
			return
		}
	}
}

// await polls the status until the state is reached.
func await(t *testing.T, r *projection.Runner, want projection.State) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); status(t, r).State != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s", want)
		}
	}
}

func TestARunnerThatMakesNoProgressStalls(t *testing.T) {
	db := open(t, newFaultyStore())
	c := &clock{at: epoch}
	cfg := quick()
	cfg.Now = c.now
	log := &gate{frozen{openLog(t, event("", upsert("a", 1)))}, make(chan struct{})}
	r := newRunner(t, "script", log, db, cfg)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	<-log.idle
	if s := status(t, r); s.State != projection.StateCatchingUp {
		t.Errorf("at first: %s, want catching up", s.State)
	}
	c.move(time.Minute)
	if s := status(t, r); s.State != projection.StateStalled {
		t.Errorf("a minute later: %s, want stalled: the source has an event that never comes", s.State)
	}
	stop()
	<-ran
}

// frozen is a log whose reads see nothing of what its head says is there.
type frozen struct{ *memlog.Log }

func (frozen) Read(context.Context, string, uint64, int) ([]eventlog.Event, error) { return nil, nil }

func (frozen) Wait(ctx context.Context, _ eventlog.Offsets) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestACheckpointBeyondTheSourceIsNotHealthy(t *testing.T) {
	store := newFaultyStore()
	run(t, logOf(t, event("", upsert("a", 1)), event("", upsert("a", 1))), open(t, store), quick())
	r := newRunner(t, "script", openLog(t, event("", upsert("a", 1))), open(t, store), quick())
	err := r.Run(t.Context())
	if m := (*projection.MismatchError)(nil); !errors.As(err, &m) {
		t.Errorf("run: %v, want a mismatch", err)
	}
	if s := status(t, r); s.State != projection.StateStopped || s.LastError == "" {
		t.Errorf("the source ends before the checkpoint, and nothing says so: %+v", s)
	}
}
