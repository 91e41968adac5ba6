package client

import (
	"context"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// priority is whom a request is for. Requests of a low one may fill a part of the places in flight alone, so that those
// of a higher one find places whatever the others send.
type priority int

const (
	background priority = iota // the build of rows that do not serve yet
	fold                       // rows that serve, and what is on record
	awaited                    // a client who waits
	priorities
)

// priorityOf returns the priority of a request. One with a budget is for a client who waits.
func priorityOf(ctx context.Context) priority {
	switch {
	case driver.BudgetOf(ctx) != nil:
		return awaited
	case driver.IsInBackground(ctx):
		return background
	}
	return fold
}

// room is how many requests of a priority and of lower ones may be in flight: builds have a quarter, and all but those
// that clients wait for have three quarters, or one.
func (p priority) room(concurrency int) int {
	return max(1, concurrency*[priorities]int{background: 1, fold: 3, awaited: 4}[p]/4)
}

// inFlight holds, for each priority, a place for each request in flight that is of it or of a lower one.
type inFlight [priorities]chan struct{}

func newInFlight(concurrency int) (f inFlight) {
	for p := range f {
		f[p] = make(chan struct{}, priority(p).room(concurrency))
	}
	return f
}

// enter waits for a place for a request of the priority, until a time, if one is given.
func (f *inFlight) enter(ctx context.Context, of priority, until time.Time) error {
	for p := of; p < priorities; p++ {
		if err := take(ctx, f[p], until); err != nil {
			f.release(of, p)
			return err
		}
	}
	return nil
}

func take(ctx context.Context, places chan struct{}, until time.Time) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	var enough <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-enough:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *inFlight) leave(of priority) { f.release(of, priorities) }

// release gives back the places of a priority, and of the higher ones below end.
func (f *inFlight) release(of, end priority) {
	for p := of; p < end; p++ {
		<-f[p]
	}
}
