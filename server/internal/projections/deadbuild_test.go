package projections

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// forgetful is a source that has dropped its oldest events.
type forgetful struct{ eventlog.Source }

func (f forgetful) Read(_ context.Context, partition string, after uint64, _ int) ([]eventlog.Event, error) {
	return nil, &eventlog.ForgottenError{Partition: partition, After: after, First: after + 2}
}

// TestRowsWhoseSuccessorsCannotBeBuiltAreNotHealthy: a schema has changed, and the source no longer has the events that
// the new rows are folded from. The frozen rows fall behind for good, while their growing lag looks like a rebuild.
func TestRowsWhoseSuccessorsCannotBeBuiltAreNotHealthy(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first, second := openVersion(t, store, "1"), openVersion(t, store, "2")
	first.fold(t, first.db, "T")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	set, err := New([]projection.Projection{second.p}, forgetful{log}, second.db, nil, projection.RunnerConfig{
		Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = set.KeepServing(t.Context(), Keep{DB: second.db})
	}
	if err == nil {
		err = set.Prepare(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	set.Start(t.Context())
	t.Cleanup(func() {
		set.Halt()
		set.Wait()
	})
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		list, why := set.Statuses(t.Context())
		if why != nil && strings.Contains(why.Error(), "the build of its rows has stopped") {
			if b := list[0].Build; CheckBuild(b) == nil {
				t.Errorf("the build is healthy: %+v", b)
			}
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("ready: %v, with the build at %+v; want that it has stopped", why, list[0].Build)
		}
	}
}
