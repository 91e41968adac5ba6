package server

import (
	"context"
	"time"

	"github.com/foldql/foldql/projection"
)

// announceReady logs the moment from which the rows are up to date, and every while until then how far they are.
func (s *runningServer) announceReady(ctx context.Context) {
	began := time.Now()
	logged := began
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		statuses, err := s.folds.Statuses(ctx)
		if err == nil {
			s.log.Info("ready: every projection is up to date", "took", time.Since(began).String())
			return
		}
		if time.Since(logged) >= notReadyEvery {
			logged = time.Now()
			s.log.Info("not ready yet", "behind", behind(statuses), "why", err)
		}
	}
}

// notReadyEvery is how often a server that is not ready logs how far it is.
const notReadyEvery = 5 * time.Second

// behind is how many events the last of the projections is behind.
func behind(statuses []projection.Status) (most uint64) {
	for _, s := range statuses {
		most = max(most, s.Lag)
	}
	return most
}
