package shared_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// waited is a log that counts who waits for it, and fails them all when it breaks.
type waited struct {
	*memlog.Log
	waiting, most atomic.Int64
	broken        chan struct{}
}

var errBroken = errors.New("broken")

func (w *waited) Wait(ctx context.Context, after eventlog.Offsets) error {
	w.most.Store(max(w.most.Load(), w.waiting.Add(1)))
	defer w.waiting.Add(-1)
	some, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-w.broken:
			cancel(errBroken)
		case <-some.Done():
		}
	}()
	err := w.Log.Wait(some, after)
	if ctx.Err() == nil && some.Err() != nil {
		return context.Cause(some)
	}
	return err
}

// TestReadersAtOnePlaceWaitByOneCall of the source. It ends for all of them with what the source says; where the one
// who made it gives up, the others go on waiting by another.
func TestReadersAtOnePlaceWaitByOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(t *testing.T, w *waited)
		want error
	}{
		"events come": {func(t *testing.T, w *waited) {
			if _, err := w.Append(t.Context(), sourcetest.Events(1)); err != nil {
				t.Error(err)
			}
		}, nil},
		"the source fails": {func(_ *testing.T, w *waited) { close(w.broken) }, errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &waited{Log: memlog.New(memlog.Options{}), broken: make(chan struct{})}
				s := shared.New(w, 0)
				const readers = 10
				ends := make(chan error, readers)
				for i := range readers {
					ctx := t.Context()
					if i < readers/2 { // the first of them makes the call
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, time.Duration(i+1)*time.Second)
						defer cancel()
					}
					go func() { ends <- s.Wait(ctx, eventlog.Offsets{"0": 0}) }()
					synctest.Wait()
				}
				for range readers / 2 {
					if err := <-ends; !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("one who gives up is told %v", err)
					}
				}
				synctest.Wait()
				if n := w.waiting.Load(); n != 1 {
					t.Errorf("%d calls of the source wait for those who are left", n)
				}
				c.end(t, w)
				for range readers / 2 {
					if err := <-ends; !errors.Is(err, c.want) {
						t.Errorf("one who waits is told %v, want %v", err, c.want)
					}
				}
				if n := w.most.Load(); n != 1 {
					t.Errorf("%d calls of the source at once", n)
				}
			})
		})
	}
}

// TestReadersAtOtherPlacesWaitForThemselves: what follows the one may be long there for the other.
func TestReadersAtOtherPlacesWaitForThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waited{Log: memlog.New(memlog.Options{}), broken: make(chan struct{})}
		if _, err := w.Append(t.Context(), sourcetest.Events(1)); err != nil {
			t.Fatal(err)
		}
		s := shared.New(w, 0)
		end := make(chan error, 1)
		go func() { end <- s.Wait(t.Context(), eventlog.Offsets{"0": 1}) }()
		synctest.Wait()
		if err := s.Wait(t.Context(), eventlog.Offsets{"0": 0}); err != nil {
			t.Error(err)
		}
		close(w.broken)
		if err := <-end; !errors.Is(err, errBroken) {
			t.Error(err)
		}
	})
}
