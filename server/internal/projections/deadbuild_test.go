package projections

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// forgetful is a source that has dropped its oldest events.
type forgetful struct{ eventlog.Source }

func (f forgetful) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if after > 0 {
		return f.Source.Read(ctx, partition, after, most)
	}
	return nil, &eventlog.ForgottenError{Partition: partition, After: after, First: after + 2}
}

// safeBuffer is what goroutines write.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// withoutEvents is a server of a version, over rows of version 1 and a source that no longer has the events from which
// others are folded.
func withoutEvents(t *testing.T, number string, logger *slog.Logger) *Set {
	t.Helper()
	store := memstore.NewMultiWriter(memstore.Options{})
	first, second := openVersion(t, store, "1"), openVersion(t, store, number)
	first.fold(t, first.db, "T")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	set := second.serve(t, forgetful{log}, Keep{}, projection.RunnerConfig{Logger: logger})
	return set
}

// until waits for what is to hold.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it never holds that %s", what)
		}
	}
}

// TestRowsWhoseSuccessorsCannotBeBuiltAreNotHealthy: the frozen rows fall behind for good, while their growing lag
// looks like a rebuild.
func TestRowsWhoseSuccessorsCannotBeBuiltAreNotHealthy(t *testing.T) {
	set := withoutEvents(t, "2", slog.New(slog.DiscardHandler))
	until(t, "the server is not ready, since the build has stopped", func() bool {
		list, why := set.Statuses(t.Context())
		stopped := why != nil && strings.Contains(why.Error(), "the build of its rows has stopped")
		if stopped && CheckBuild(list[0].Build) == nil {
			t.Errorf("the build is healthy: %+v", list[0].Build)
		}
		return stopped
	})
}

// TestTheLogSaysThatABuildHasStoppedAndWhatBecomesOfTheRowsThatServe: where this server folds them they go on.
func TestTheLogSaysThatABuildHasStoppedAndWhatBecomesOfTheRowsThatServe(t *testing.T) {
	for number, want := range map[string]string{
		"1": "build stopped; the rows that serve are not affected",
		"2": "build stopped; this server does not fold the rows that serve, and is not ready",
	} {
		t.Run("version "+number, func(t *testing.T) {
			var logged safeBuffer
			set := withoutEvents(t, number, slog.New(slog.NewTextHandler(&logged, nil)))
			if number == "1" {
				if err := set.Ask(t.Context(), set.All[0], Start); err != nil {
					t.Fatal(err)
				}
			}
			until(t, "the log says that something has stopped", func() bool {
				return strings.Contains(logged.String(), "stopped")
			})
			if text := logged.String(); !strings.Contains(text, want) {
				t.Errorf("the log does not say %q:\n%s", want, text)
			}
			until(t, "the server is ready where it folds the rows that serve", func() bool {
				_, err := set.Statuses(t.Context())
				return (err == nil) == (number == "1")
			})
		})
	}
}
