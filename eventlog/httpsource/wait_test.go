package httpsource_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
)

// waited is a log that counts who waits for it.
type waited struct {
	*memlog.Log
	waits int
}

func (w *waited) Wait(ctx context.Context, after eventlog.Offsets) error {
	w.waits++
	return w.Log.Wait(ctx, after)
}

// TestAWaitIsOneOfTheSource, which may be elsewhere: each that is broken off costs it a connection. It ends with the
// time of the client, and soon after the server is to end.
func TestAWaitIsOneOfTheSource(t *testing.T) {
	for name, c := range map[string]struct{ stopsAfter, earliest, latest time.Duration }{
		"to its end":            {time.Hour, 20 * time.Second, 20 * time.Second},
		"until the server ends": {3 * time.Second, 3 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stopping atomic.Bool
				defer time.AfterFunc(c.stopsAfter, func() { stopping.Store(true) }).Stop()
				log := &waited{Log: memlog.New(memlog.Options{})}
				h := &httpsource.Handler{Source: log, Logger: slog.New(slog.DiscardHandler), Stopping: stopping.Load}
				w, began := httptest.NewRecorder(), time.Now()
				h.Wait(w, httptest.NewRequest("GET", "/events/wait?after={}&seconds=20", nil))
				took := time.Since(began)
				if w.Code != 200 || !strings.Contains(w.Body.String(), `"more":false`) || took < c.earliest || took > c.latest {
					t.Errorf("after %s: %d %s", took, w.Code, w.Body)
				}
				if log.waits != 1 {
					t.Errorf("the source is waited for %d times", log.waits)
				}
			})
		})
	}
}
