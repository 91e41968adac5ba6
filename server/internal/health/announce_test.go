package health

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/server/internal/projections"
)

// TestAServerSaysThatItIsReadyWhenProbesDo, and meanwhile it neither fills the log nor asks the source and the store
// without end.
func TestAServerSaysThatItIsReadyWhenProbesDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		asked, away := 0, errors.New("the store of the rows does not answer")
		h := &Health{Folds: &projections.Set{}, Answers: func(context.Context) error {
			asked++
			return away
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.Announce(t.Context(), slog.New(slog.NewTextHandler(&logged, nil)))
		}()
		const minutes = 24 * 60
		time.Sleep(minutes * time.Minute)
		synctest.Wait()
		if most := minutes*60/5 + 100; asked > most {
			t.Errorf("in a day it is asked %d times, want %d at most", asked, most)
		}
		if n := strings.Count(logged.String(), "not ready yet"); n < minutes/2 || n > minutes {
			t.Errorf("in %d minutes it is logged %d times that the server is not ready, want once in most of them", minutes, n)
		}
		if strings.Contains(logged.String(), "ready: ") {
			t.Error("the server says that it is ready while its store does not answer")
		}
		away = nil
		<-done
		if !strings.Contains(logged.String(), "ready: ") {
			t.Error("it does not say that it is ready")
		}
	})
}
