package projection_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// later is a clock long after the last event.
func later() time.Time { return epoch.AddDate(1, 0, 0) }

// leftAfterSweep is how many rows a sweep leaves of those that the log folds into.
func leftAfterSweep(t *testing.T, db *querydb.DB, ids ...string) (n int) {
	t.Helper()
	if _, err := db.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		page, err := db.Stored("").Query(t.Context(), Model, querydb.Query{Index: -1, PK: id, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		n += len(page.Rows)
	}
	return n
}

// mortal sets a row that ends a minute after the first event.
func mortal(id string) Step {
	s := set(id, 1)
	s.Expires = ptr(epoch.Add(time.Minute))
	return s
}

func TestRowsThatExpiredAreDoneWithoutWhenEveryEventIsFolded(t *testing.T) {
	db := open(t, memstore.New())
	cfg := quick()
	cfg.Now = later
	run(t, logOf(t, event("", mortal("a")), event("", upsert("b", 1))), db, cfg)
	if n := leftAfterSweep(t, db, "a", "b"); n != 1 {
		t.Errorf("%d rows are left, want 1", n)
	}
}

// TestRowsThatExpiredStayWhileEventsAreToBeFolded that may have found them there.
func TestRowsThatExpiredStayWhileEventsAreToBeFolded(t *testing.T) {
	db := open(t, memstore.New())
	cfg := quick()
	cfg.Now, cfg.Window = later, 1
	src := &closing{Log: openLog(t, event("", mortal("a")), event("", upsert("a", 1)), event("", upsert("a", 1))), after: 2}
	r := newRunner(t, "script", src, db, cfg)
	if err := r.Run(t.Context()); !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("run: %v, want the end of the source", err)
	}
	if n := leftAfterSweep(t, db, "a"); n != 1 {
		t.Errorf("%d rows are left, want 1", n)
	}
}

// closing is a log that is closed when so many events were read.
type closing struct {
	eventlog.Log
	after uint64
}

func (e *closing) Read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	if after >= e.after {
		return nil, eventlog.ErrClosed
	}
	return e.Log.Read(ctx, partition, after, 1)
}

func TestRowsThatExpiredStayWhileAnEventIsAside(t *testing.T) {
	db := open(t, memstore.New())
	cfg := quick()
	cfg.Now = later
	log := logOf(t, event("", mortal("a")), event("bad", needs("none", 1)))
	r := run(t, log, db, cfg)
	if n := leftAfterSweep(t, db, "a"); n != 1 {
		t.Errorf("%d rows are left while an event is aside, want 1", n)
	}
	if err := r.Skip(t.Context(), asideOf(t, r)[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := leftAfterSweep(t, db, "a"); n != 0 {
		t.Errorf("%d rows are left when the event was skipped, want none", n)
	}
}
