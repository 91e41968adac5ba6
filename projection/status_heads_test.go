package projection_test

import (
	"context"
	"errors"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// TestHeadsThatRowsHaveComePastAreAskedForAgain: rows that are folded between two statuses are not those of another
// log, and their source was not cut.
func TestHeadsThatRowsHaveComePastAreAskedForAgain(t *testing.T) {
	log := openLog(t, event("", upsert("a", 1)))
	r := newRunner(t, "script", log, open(t, newFaultyStore()), quick())
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	defer func() { stop(); <-ran }()
	heads := projection.NewHeads(log)
	if _, err := heads.Status(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	add(t, log, 1, event("", upsert("a", 2)))
	if err := r.Await(t.Context(), eventlog.Offsets{"0": 2}); err != nil {
		t.Fatal(err)
	}
	s, err := heads.Status(t.Context(), r)
	if err != nil || s.State == projection.StateStalled || s.LastError != "" || s.Partitions[0].Head != 2 {
		t.Errorf("state %s at head %d: %q, %v; want head 2", s.State, s.Partitions[0].Head, s.LastError, err)
	}
}

// headless is a source that knows its partitions without asking anybody, and cannot say where they end.
type headless struct{ eventlog.Source }

func (headless) Head(context.Context, string) (uint64, error) { return 0, errors.New("no connection") }

// TestALagIsUnknownWhereASourceNamesItsPartitionsAndNotTheirEnds: 0 would pass for rows that are up to date.
func TestALagIsUnknownWhereASourceNamesItsPartitionsAndNotTheirEnds(t *testing.T) {
	src := headless{openLog(t, event("", upsert("a", 1)))}
	s, err := newRunner(t, "script", src, open(t, newFaultyStore()), quick()).Status(t.Context())
	if err == nil || s.LagKnown {
		t.Errorf("the lag is %d, known %t, %v; want an error, and that it is unknown", s.Lag, s.LagKnown, err)
	}
}
