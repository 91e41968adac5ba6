// Package usercode calls the code of projections, so that it fails one event alone: a panic or the end of its goroutine
// is an error, and code that does not return is given up. For what Go ends the process, nobody can: endless recursion,
// a map that several goroutines write at once, a panic in a goroutine that the code has started.
package usercode

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// User code is called in goroutines of its own, one for all events of a window, so that code that does not return can
// be given up, and code that ends its goroutine fails its event alone. Which event is in progress is one atomic
// pointer: whoever takes the event out of it, the goroutine that is done with it or the watch that gives it up,
// decides which it was. So a goroutine that was given up ends as soon as the user's function returns, and nothing
// that it has made is used. An event is in progress between Enter and Leave only: what a call reads and changes of
// its projection comes before and after.

// Supervisor calls user code.
type Supervisor struct {
	Limit     time.Duration   // for one event
	Attempts  int             // for an event whose calls end their goroutine
	Ending    <-chan struct{} // closed when the Run that is going on is to end; nil for never
	abandoned atomic.Int64    // goroutines that were given up and have not ended
}

// Why events are given up.
var (
	ErrOverdue = errors.New("the event takes longer than the limit")
	ErrEnding  = errors.New("the event is still in progress, and the projection is to end")
)

// ErrGoexit is what becomes of an event whose code ends its goroutine.
var ErrGoexit = errors.New("the projector ended its goroutine (runtime.Goexit) instead of returning")

// Bounds of the watch over calls.
const (
	looks    = 10          // at the event in progress, before it is given up
	lastCall = time.Second // that an event may take once the projection is to end
)

// Abandoned is how many calls were given up and have not returned.
func (s *Supervisor) Abandoned() int64 { return s.abandoned.Load() }

// givenUp is in progress when an event was given up.
var givenUp eventlog.Event

// Calls are calls of one function for the events of a window.
type Calls struct {
	N  int
	Of func(i int) *eventlog.Event // returns the i-th event
	// Do handles the i-th event, and calls user code between Enter and Leave. Where failed is set, it must not: that
	// has failed, with this error. It reports whether the next event is to be looked at; an error ends the calls.
	Do func(c *Calls, i int, failed error) (more bool, err error)
	// Between is called after each event, while none is in progress.
	Between func()

	inProgress atomic.Pointer[eventlog.Event]
	i          int // the first event that is not done with
	deaths     int // of goroutines, at that event
	failed     error
	died       error
	err        error // of Do
}

// Each makes the calls in order, and returns how many are done. An error is ErrOverdue or ErrEnding, about the event
// after those, that of Do, or a failure of our own.
func (s *Supervisor) Each(c *Calls) (done int, err error) {
	for c.N > 0 {
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
		if c.deaths++; c.deaths >= s.Attempts {
			c.failed = c.died
		}
	}
	return 0, nil
}

// run makes calls until they are done, or end the goroutine.
func (s *Supervisor) run(c *Calls, ended chan<- struct{}) {
	whole := false
	defer func() {
		v := recover()
		if !whole && c.inProgress.Swap(nil) == &givenUp {
			s.abandoned.Add(-1)
			return
		}
		switch {
		case v != nil:
			c.died = Panicked(v)
		case !whole:
			c.died = ErrGoexit
		}
		close(ended)
	}()
	for more := true; more && c.i < c.N; {
		next, err := c.Do(c, c.i, c.failed)
		if more, c.err = next && err == nil, err; more {
			c.i, c.deaths, c.failed = c.i+1, 0, nil
			c.Between()
		}
	}
	whole = true
}

// Enter says that user code is called with the event.
func (c *Calls) Enter() { c.inProgress.Store(c.Of(c.i)) }

// Leave says that it has returned, and ends the goroutine where the event was given up meanwhile.
func (c *Calls) Leave() {
	if !c.inProgress.CompareAndSwap(c.Of(c.i), nil) {
		runtime.Goexit()
	}
}

// watch waits until the goroutine has ended, or its event has been in progress for too long. It counts looks, not
// time: a process that was held up itself has not looked.
func (s *Supervisor) watch(c *Calls, ended <-chan struct{}) error {
	look := time.NewTicker(max(s.Limit/looks, 1))
	defer look.Stop()
	ending, why := s.Ending, ErrOverdue
	var seen *eventlog.Event
	for n := 0; ; {
		select {
		case <-ended:
			return nil
		case <-ending:
			ending, why, seen = nil, ErrEnding, nil
			look.Reset(max(min(s.Limit, lastCall)/looks, 1))
		case <-look.C:
			e := c.inProgress.Load()
			if e == nil || e != seen {
				seen, n = e, 0
				continue
			}
			if n++; n >= looks && c.inProgress.CompareAndSwap(e, &givenUp) {
				s.abandoned.Add(1)
				return why
			}
		}
	}
}

// Attempt calls f until it succeeds or returns the final error, at most n times, and returns its last error.
func Attempt(n int, final error, f func() error) (err error) {
	for range n {
		if err = f(); err == nil || err == final {
			break
		}
	}
	return err
}
