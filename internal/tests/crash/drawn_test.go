package crash

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/crash/plain"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestDrawnEventsThatNothingDisturbsAreFoldedAsPlainly: what differs in a trial comes of what has happened in it. It is
// also the quick way to see a fault that both folds of package projection have.
func TestDrawnEventsThatNothingDisturbsAreFoldedAsPlainly(t *testing.T) {
	from := uint64(time.Now().UnixNano())
	for n := range uint64(4) {
		rng := newRand(from + n)
		draw := ledgerEvents
		if n%2 == 1 {
			draw = partedEvents
		}
		lines, err := draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "events.jsonl")
		if err := writeLines(file, lines[:min(len(lines), 800)]); err != nil {
			t.Fatal(err)
		}
		if err := verified(foldedInPeace(t, file, 1+rng.IntN(40))); err != nil {
			t.Errorf("seed %d: %v", from+n, err)
		}
	}
}

// foldedInPeace folds, so many events at once, what the plain fold knows and the time series beside it.
func foldedInPeace(t *testing.T, file string, window int) (*verifier.Verdict, error) {
	t.Helper()
	all := slices.DeleteFunc(projection.Group(ledger.Projections()), func(p projection.Projection) bool {
		return p.Name != plain.Projection && p.Name != "Meter"
	})
	p := verifier.Project{Projections: all, Plain: &plain.Ledger}
	for i := range all {
		p.Models = append(p.Models, all[i].Models()...)
	}
	store := memstore.New()
	db, err := querydb.Open(t.Context(), store, p.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		runner, err := projection.NewRunner(one, source, db, projection.RunnerConfig{WindowEvents: window})
		if err == nil {
			err = runner.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	return p.Verify(t.Context(), file, store, nil)
}
