package projection_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestNotesThatARebuildCouldNotDropAreDroppedByTheNextStart: nobody else would ever look for them.
func TestNotesThatARebuildCouldNotDropAreDroppedByTheNextStart(t *testing.T) {
	const letters = 30
	s := newSetting(t)
	var events []eventlog.Event
	for i := range letters {
		events = append(events, event(fmt.Sprint(i), needs("a", 1)))
	}
	log := logOf(t, events...)
	first := s.fold(log, 100)
	former := "deadletter:" + s.ops.Codec.Model.Table + ".g0:script"
	count := func(kind string) int {
		t.Helper()
		notes, err := first.db.Notes().List(t.Context(), kind, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		return len(notes)
	}
	if err := projection.RequestRebuild(t.Context(), first.db, ProjectionOf("script", s.ops)); err != nil {
		t.Fatal(err)
	}
	s.run(s.server(log, 100, memstore.Options{Before: func(c memstore.Commit) error {
		if slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == former }) {
			return driver.ErrUnavailable
		}
		return nil
	}}))
	if n := count(former); n != letters {
		t.Fatalf("%d notes are left after the rebuild, want all %d", n, letters)
	}
	s.fold(log, 100)
	if n, left := count(former), count("leftover"); n > 0 || left > 0 {
		t.Errorf("%d notes are left after the next start, and %d that say so", n, left)
	}
	if got := deadLettersOf(t, first.Runner); len(got) != letters {
		t.Errorf("there are %d dead letters, want %d", len(got), letters)
	}
}
