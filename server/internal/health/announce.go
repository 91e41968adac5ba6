package health

import (
	"context"
	"log/slog"
	"time"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/internal/recurring"
	"github.com/foldql/foldql/projection"
)

const (
	// lookLeast and lookMost are between two looks at whether the server is ready. Each takes requests to the source and
	// to the store, so they come less often the longer that takes.
	lookLeast = 100 * time.Millisecond
	lookMost  = 5 * time.Second
	// quietFor is how long a server that starts does not log that it is not ready.
	quietFor = 5 * time.Second
)

// Announce logs the moment from which the server should get requests, and until then why it should not.
func (h *Health) Announce(ctx context.Context, log *slog.Logger) {
	began := time.Now()
	var reason recurring.Failure
	for {
		took := time.Since(began)
		if backoff.Wait(ctx, min(max(took/10, lookLeast), lookMost)) != nil {
			return
		}
		list, err := h.Check(ctx)
		if err == nil {
			log.Info("ready: every projection is up to date", "took", time.Since(began).String())
			return
		}
		if now := time.Now(); now.Sub(began) >= quietFor && reason.IsNews(now, err) {
			log.Info("not ready yet", "behind", behind(list), "why", err)
		}
	}
}

// behind is how many events the last of the projections is behind.
func behind(list []projection.Status) (most uint64) {
	for _, s := range list {
		most = max(most, s.Lag)
	}
	return most
}
