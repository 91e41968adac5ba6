package projections

import (
	"errors"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestARollbackWithoutFormerRowsSaysWhereToSeeWhatThereIs, and an abort of nothing says once what it was to do.
func TestARollbackWithoutFormerRowsSaysWhereToSeeWhatThereIs(t *testing.T) {
	v := openVersionOn(t, memstore.New(), "1")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	set := v.serve(t, log, Keep{}, projection.RunnerConfig{})
	one := set.units[0].of[0]
	if err := one.Await(t.Context(), eventlog.Offsets{"0": 1}); err != nil {
		t.Fatal(err)
	}
	err := set.Ask(t.Context(), one, Rollback)
	if refused := RefusedError(""); !errors.As(err, &refused) || !strings.Contains(err.Error(), "server rebuild status") {
		t.Errorf("a rollback without former rows: %v", err)
	}
	err = set.Ask(t.Context(), one, Abort)
	if err == nil || strings.Count(err.Error(), "drop the generation that is being built") != 1 {
		t.Errorf("an abort of nothing: %v, want that it says once what was to be done", err)
	}
}
