package server

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// drain ends the server in such a way that nobody is cut off who can be waited for. A listener that fails meanwhile has
// nobody left to notice.
func (s *runningServer) drain(srv *http.Server, failed <-chan error) error {
	s.log.Info("draining; a second signal ends the server at once", "delay", s.cfg.DrainDelay.String())
	s.turnAway()
	select {
	case err := <-failed:
		s.log.Warn("the listener failed while draining", "error", err)
	case <-time.After(s.cfg.DrainDelay):
	}
	s.end = time.Now().Add(s.cfg.DrainTimeout)
	ctx, cancel := context.WithDeadline(context.Background(), s.end)
	defer cancel()
	// Projections fold as long as requests are in flight, but for the time that they need to end themselves.
	defer time.AfterFunc(s.cfg.DrainTimeout-min(toEnd, s.cfg.DrainTimeout/2), s.stopFolds).Stop()
	if err := srv.Shutdown(ctx); err != nil {
		s.log.Warn("requests did not finish in time and are cut off", "timeout", s.cfg.DrainTimeout.String())
		_ = srv.Close() // it only says what is known: that connections were open
	}
	return nil
}

// turnAway has /readyz say that others are to be asked. No decision begins any more.
func (p *routes) turnAway() {
	p.deciding.End()
	p.health.Draining.Store(true)
}

// toEnd is what projections have at least for their last commit.
const toEnd = 3 * time.Second

// close ends what open has begun, as far as that got.
func (s *runningServer) close() error {
	if s.stopFolds != nil {
		s.turnAway()
		decided := s.deciding.Finish()
		s.stopFolds()
		end := time.Now().Add(toEnd)
		if s.end.After(end) {
			end = s.end
		}
		err, ended := s.folds.WaitUntil(end)
		if !ended || !s.following.endsUntil(end) || !isClosedBy(end, decided) {
			return errors.New("projections, or decisions about them, did not end in time, so the store was not closed; what " +
				"they had not committed is folded again at the next start; repeat decisions that were not answered")
		}
		if err != nil {
			s.log.Error("projections had stopped", "error", err)
		}
	}
	err := s.closeStores()
	if err == nil && s.stopFolds != nil {
		s.log.Info("stopped")
	}
	return err
}

// closeStores closes what is open, and forgets what was measured of it.
func (s *runningServer) closeStores() error {
	var all []error
	if s.source != nil {
		all = append(all, s.source.Close())
	}
	if s.db != nil {
		all = append(all, s.db.Close())
	}
	s.source, s.db, s.storages, s.measured = nil, nil, nil, nil
	return errors.Join(all...)
}
