package projections

import (
	"context"
	"sync"
)

// crew are goroutines that end together.
type crew struct {
	ctx   context.Context
	stop  context.CancelFunc
	done  sync.WaitGroup
	moved chan struct{} // one of them has found other rows than it is to fold
}

func newCrew(ctx context.Context) *crew {
	c := &crew{moved: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

func (c *crew) add(f func(context.Context)) { c.done.Go(func() { f(c.ctx) }) }

// ended is closed once all of them have ended by themselves.
func (c *crew) ended() <-chan struct{} {
	all := make(chan struct{})
	go func() {
		c.done.Wait()
		close(all)
	}()
	return all
}

// end ends them, and waits for that.
func (c *crew) end() {
	c.stop()
	c.done.Wait()
}

// away says that the rows are others than those that were to be folded.
func (c *crew) away() {
	select {
	case c.moved <- struct{}{}:
	default:
	}
}
