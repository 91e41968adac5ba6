package client

import (
	"context"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// lane is whom a request is for. Each has room for some of the requests that may be in flight, so that those of a
// later lane find some whatever the earlier ones send.
type lane int

const (
	background lane = iota // the build of rows that do not serve yet
	fold                   // rows that serve, and what is on record
	awaited                // a client who waits
	nLanes
)

// laneOf returns the lane of a request. One with a budget is for a client who waits.
func laneOf(ctx context.Context) lane {
	switch {
	case driver.BudgetOf(ctx) != nil:
		return awaited
	case driver.IsInBackground(ctx):
		return background
	}
	return fold
}

// room is how many requests of a lane, and of those before it, may be in flight: builds have a quarter, and all but
// those that clients wait for have three quarters, or one.
func (l lane) room(concurrency int) int {
	return max(1, concurrency*[nLanes]int{background: 1, fold: 3, awaited: 4}[l]/4)
}

// inFlight holds, for each lane, a place for each request of it and of those before it that is in flight.
type inFlight [nLanes]chan struct{}

func newInFlight(concurrency int) (f inFlight) {
	for l := range f {
		f[l] = make(chan struct{}, lane(l).room(concurrency))
	}
	return f
}

// enter waits for a place for a request of the lane; not for long where somebody waits for it.
func (f *inFlight) enter(ctx context.Context, of lane) error {
	for l := of; l < nLanes; l++ {
		if err := take(ctx, f[l], of); err != nil {
			f.release(of, l)
			return err
		}
	}
	return nil
}

func take(ctx context.Context, places chan struct{}, of lane) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	var enough <-chan time.Time
	if of == awaited {
		timer := time.NewTimer(readTimeout)
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

func (f *inFlight) leave(of lane) { f.release(of, nLanes) }

// release gives back the places of a lane, and of those after it before end.
func (f *inFlight) release(of, end lane) {
	for l := of; l < end; l++ {
		<-f[l]
	}
}
