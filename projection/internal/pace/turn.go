package pace

import (
	"context"
	"time"
)

// Turns are those of one goroutine of a Member: it works between Begin and End. They are used by one goroutine at a
// time.
type Turns struct {
	of    *Member
	ctx   context.Context // of the turn; nil between two
	began time.Time       // to work without a rest
	holds int64           // places
}

// NewTurns makes the turns of another goroutine.
func (m *Member) NewTurns() *Turns { return &Turns{of: m} }

// Bounded reports whether there are others for whom time is to be left.
func (t *Turns) Bounded() bool { return t.of.of != nil }

// Begin waits until it is the goroutine's turn, or until the context ends, whose cause it then returns.
func (t *Turns) Begin(ctx context.Context) error {
	if !t.Bounded() {
		return nil
	}
	if err := t.enter(ctx); err != nil {
		return err
	}
	t.ctx = ctx
	return nil
}

// mostAtOnce is how long a goroutine works before it rests: so long others may wait for a processor. Of
// much less, the timers that end rests would be too late.
const mostAtOnce = 200 * time.Microsecond

// Rest is called between two pieces of work. It lets others work where this goroutine has worked for some time; no
// longer than until the context of the turn ends. It does nothing where no turn has begun, nor for a member that waits:
// what that has read of a store must be used before others change it.
func (t *Turns) Rest() {
	if t.ctx == nil || t.of.waits || time.Since(t.began) < mostAtOnce {
		return
	}
	t.leave()
	_ = t.enter(t.ctx) // what has begun is done, however soon that is to be
}

// Aside calls work that may have to wait for others, of which nobody knows how long: another may have the place
// meanwhile. It counts as work all the same.
func (t *Turns) Aside(work func()) {
	if t.ctx == nil {
		work()
		return
	}
	t.leave()
	t.began = time.Now()
	work()
	t.leave()
	_ = t.enter(t.ctx) // as in Rest
}

// End ends the turn. It does nothing where none has begun.
func (t *Turns) End() {
	if t.ctx != nil {
		t.leave()
		t.ctx = nil
	}
}

// enter waits until the member may work, and takes as many places as leave room for no more than may work at once.
func (t *Turns) enter(ctx context.Context) error {
	t.began = time.Now()
	if err := t.of.Wait(ctx); err != nil {
		return err
	}
	if !t.of.waits {
		room := t.of.of.room()
		if t.of.of.places.Acquire(ctx, room) != nil {
			return context.Cause(ctx)
		}
		t.holds = room
	}
	t.began = time.Now()
	return nil
}

// leave gives the places back.
func (t *Turns) leave() {
	t.of.worked(t.began, time.Now())
	if t.holds > 0 {
		t.of.of.places.Release(t.holds)
		t.holds = 0
	}
}
