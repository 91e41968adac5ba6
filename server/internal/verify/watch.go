package verify

import (
	"context"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// tellEvery is how often a fold tells how far it is.
const tellEvery = 500 * time.Millisecond

// seldom is f that does nothing when it was called just before.
func seldom(f func()) func() {
	var last time.Time
	return func() {
		if time.Since(last) >= tellEvery {
			last = time.Now()
			f()
		}
	}
}

// watch tells how far a fold is until it is done.
func watch(ctx context.Context, r *projection.Runner, done <-chan error, tell func(uint64)) error {
	look := time.NewTicker(tellEvery)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			if err == nil {
				err = context.Cause(ctx)
			}
			tell(folded(r))
			return err
		case <-look.C:
			tell(folded(r))
		}
	}
}

// folded is how many events a fold has come to.
func folded(r *projection.Runner) uint64 { return sum(r.Reached().Offsets) }

func sum(of eventlog.Offsets) (all uint64) {
	for _, offset := range of {
		all += offset
	}
	return all
}
