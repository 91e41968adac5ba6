package health

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/server/internal/projections"
)

// syncedText is text that one goroutine writes while another reads it.
type syncedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *syncedText) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *syncedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestAServerSaysThatItIsReadyWhenProbesDo, and meanwhile it neither fills the log nor asks the source and the store
// without end.
func TestAServerSaysThatItIsReadyWhenProbesDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged syncedText
		var asked atomic.Int64
		var answers atomic.Bool
		h := &Health{Folds: &projections.Set{}, Answers: func(context.Context) error {
			if asked.Add(1); answers.Load() {
				return nil
			}
			return errors.New("the store of the rows does not answer")
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.Announce(t.Context(), slog.New(slog.NewTextHandler(&logged, nil)))
		}()
		const minutes = 24 * 60
		time.Sleep(minutes * time.Minute)
		synctest.Wait()
		if n, most := asked.Load(), int64(minutes*60/5+100); n > most {
			t.Errorf("in a day it is asked %d times, want %d at most", n, most)
		}
		if n := strings.Count(logged.String(), "not ready yet"); n < minutes/2 || n > minutes {
			t.Errorf("in %d minutes it is logged %d times that the server is not ready, want once in most of them", minutes, n)
		}
		if strings.Contains(logged.String(), "ready: ") {
			t.Error("the server says that it is ready while its store does not answer")
		}
		answers.Store(true)
		<-done
		if !strings.Contains(logged.String(), "ready: ") {
			t.Error("it does not say that it is ready")
		}
	})
}
