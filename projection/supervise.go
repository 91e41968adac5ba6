package projection

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// User code is called in goroutines of its own, one for all events of a window, so that code that does not return can be
// given up, and code that ends its goroutine fails its event alone. Which event is in hand is one atomic pointer: whoever
// takes the event out of it, the goroutine that is done with it or the watch that gives it up, decides which it was. So a
// goroutine that was given up ends as soon as the user's function returns, and nothing that it has made is used. An event is
// in hand between enter and leave only: what a call reads and changes of its Runner comes before and after.

// supervisor calls user code.
type supervisor struct {
	limit    time.Duration   // for one event
	attempts int             // for an event whose calls end their goroutine
	ending   <-chan struct{} // closed when the Run that is going on is to end; nil for never
	lost     atomic.Int64    // goroutines that were given up and have not ended
}

// Why events are given up.
var (
	errOverdue = errors.New("the event takes longer than the limit")
	errEnding  = errors.New("the event is still in hand, and the projection is to end")
)

// errGoexit is what becomes of an event whose code ends its goroutine.
var errGoexit = errors.New("the projector ended its goroutine (runtime.Goexit) instead of returning")

// Bounds of the watch over calls.
const (
	looks    = 10          // at the event in hand, before it is given up
	lastCall = time.Second // that an event may take once the projection is to end
)

// givenUp is in hand when an event was given up.
var givenUp eventlog.Event

// calls are those of one function for the events of a window.
type calls struct {
	n  int
	of func(i int) *eventlog.Event
	// do is about the i-th event, and calls user code between enter and leave. Where failed is set, it must not: that has
	// failed, with this error. It reports whether the next event is to be looked at; an error ends the calls.
	do func(c *calls, i int, failed error) (more bool, err error)

	inHand atomic.Pointer[eventlog.Event]
	i      int // the first event that is not done with
	deaths int // of goroutines, at that event
	failed error
	died   error
	err    error // of do
}

// each makes the calls in order, and returns how many are done. An error is errOverdue or errEnding, about the event after
// those, that of do, or a failure of our own.
func (s *supervisor) each(c *calls) (done int, err error) {
	for c.n > 0 {
		ended := make(chan struct{})
		c.died = nil
		go s.run(c, ended)
		switch err := s.watch(c, ended); {
		case err != nil:
			return c.i, err
		case c.died == nil:
			return c.i, c.err
		case c.failed != nil:
			return c.i, c.died
		}
		if c.deaths++; c.deaths >= s.attempts {
			c.failed = c.died
		}
	}
	return 0, nil
}

// run makes calls until they are done, or end the goroutine.
func (s *supervisor) run(c *calls, ended chan<- struct{}) {
	whole := false
	defer func() {
		v := recover()
		if !whole && c.inHand.Swap(nil) == &givenUp {
			s.lost.Add(-1)
			return
		}
		switch {
		case v != nil:
			c.died = panicked(v)
		case !whole:
			c.died = errGoexit
		}
		close(ended)
	}()
	for more := true; more && c.i < c.n; {
		next, err := c.do(c, c.i, c.failed)
		if more, c.err = next && err == nil, err; more {
			c.i, c.deaths, c.failed = c.i+1, 0, nil
		}
	}
	whole = true
}

// enter says that user code is called with the event.
func (c *calls) enter() { c.inHand.Store(c.of(c.i)) }

// leave says that it has returned, and ends the goroutine where the event was given up meanwhile.
func (c *calls) leave() {
	if !c.inHand.CompareAndSwap(c.of(c.i), nil) {
		runtime.Goexit()
	}
}

// watch waits until the goroutine has ended, or its event has been in hand for too long. It counts looks, not time: a
// process that was held up itself has not looked.
func (s *supervisor) watch(c *calls, ended <-chan struct{}) error {
	look := time.NewTicker(max(s.limit/looks, 1))
	defer look.Stop()
	ending, why := s.ending, errOverdue
	var seen *eventlog.Event
	for n := 0; ; {
		select {
		case <-ended:
			return nil
		case <-ending:
			ending, why, seen = nil, errEnding, nil
			look.Reset(max(min(s.limit, lastCall)/looks, 1))
		case <-look.C:
			e := c.inHand.Load()
			if e == nil || e != seen {
				seen, n = e, 0
				continue
			}
			if n++; n >= looks && c.inHand.CompareAndSwap(e, &givenUp) {
				s.lost.Add(1)
				return why
			}
		}
	}
}
