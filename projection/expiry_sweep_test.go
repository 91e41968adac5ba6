package projection_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// later is a clock long after the last event.
func later() time.Time { return epoch.AddDate(1, 0, 0) }

// leftAfterSweep is how many rows a sweep leaves of those that the log folds into.
func leftAfterSweep(t *testing.T, db *querydb.DB, ids ...string) (n int) {
	t.Helper()
	if _, err := db.Expiry().Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		page, err := db.ForFold("").Query(t.Context(), Model, querydb.Query{Index: -1, PK: id, Limit: 10})
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

// lastingStore outlives the DBs that are opened over it.
type lastingStore struct{ *memstore.Store }

func (lastingStore) Close() error { return nil }

func TestRowsThatExpiredAreRemovedWhenAnEventOfALaterTimeIsFolded(t *testing.T) {
	for second, want := range map[int]int{59: 2, 60: 2, 61: 1} {
		store := lastingStore{memstore.New()}
		db := openAt(t, later, store)
		log := openLog(t, timed(0, mortal("a")), timed(second, upsert("b", 1)), timed(0))
		log.End()
		run(t, log, db, quick())
		if second != 61 { // else what is on record has to tell
			if n := leftAfterSweep(t, db, "a", "b"); n != want {
				t.Errorf("an event of second %d: %d rows are left, want %d", second, n, want)
			}
		}
		db = openAt(t, later, store)
		run(t, log, db, quick())
		if n := leftAfterSweep(t, db, "a", "b"); n != want {
			t.Errorf("an event of second %d: %d rows are left after a restart, want %d", second, n, want)
		}
	}
}

func TestNoRowIsRemovedThatTheClockOfQueriesFindsThere(t *testing.T) {
	db := open(t, memstore.New())
	run(t, logOf(t, timed(0, mortal("a")), timed(90, upsert("b", 1))), db, quick())
	if n := leftAfterSweep(t, db, "a", "b"); n != 2 {
		t.Errorf("%d rows are left of events that are ahead of the clock, want 2", n)
	}
}

// TestRowsThatExpiredStayWhileEventsAreToBeFolded that may find them there.
func TestRowsThatExpiredStayWhileEventsAreToBeFolded(t *testing.T) {
	db := openAt(t, later, memstore.New())
	cfg := quick()
	cfg.WindowEvents = 1
	src := &closing{Log: openLog(t, event("", mortal("a")), event("", upsert("a", 1)), event("", upsert("a", 1))),
		after: 2}
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

// halfAway is a log one partition of which cannot be read, and that is closed when the other has been read to its end.
type halfAway struct {
	eventlog.Log
	away string
	end  uint64
}

func (h *halfAway) Read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	switch {
	case partition == h.away:
		return nil, errors.New("the partition is away")
	case after >= h.end:
		return nil, eventlog.ErrClosed
	}
	return h.Log.Read(ctx, partition, after, limit)
}

// TestRowsThatExpiredStayWhileAPartitionIsYetToBeFoldedFromItsBeginning, whose events may find them there.
func TestRowsThatExpiredStayWhileAPartitionIsYetToBeFoldedFromItsBeginning(t *testing.T) {
	log := memlog.New(memlog.Options{Partitions: 2})
	defer log.Close()
	in := map[string]uint64{} // how many events there are, by partition
	for i := range 50 {
		e := timed(i, mortal(fmt.Sprint(i)))
		e.ID, e.PartitionKey = fmt.Sprint(i), fmt.Sprint(i)
		at, err := log.Append(t.Context(), []eventlog.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		in[at[0].Partition]++
	}
	last := timed(90)
	last.ID, last.PartitionKey = "last", "0"
	at, err := log.Append(t.Context(), []eventlog.Event{last})
	if err != nil {
		t.Fatal(err)
	}
	here := at[0].Partition
	away := map[string]string{"0": "1", "1": "0"}[here]
	if in[away] == 0 {
		t.Fatal("all events are of one partition")
	}
	db := openAt(t, later, memstore.New())
	src := &halfAway{Log: log, away: away, end: in[here] + 1}
	r := newRunner(t, "script", src, db, quick())
	if err := r.Run(t.Context()); !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("run: %v, want the end of the source", err)
	}
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprint(i))
	}
	if n := leftAfterSweep(t, db, ids...); n != int(in[here]) {
		t.Errorf("%d rows are left, want the %d of the partition that was folded", n, in[here])
	}
}

// TestRowsThatExpiredStayUntilEveryPartitionHasComePastTheirEnd: also those of a partition that begins after others
// have.
func TestRowsThatExpiredStayUntilEveryPartitionHasComePastTheirEnd(t *testing.T) {
	log := memlog.New(memlog.Options{Partitions: 2})
	t.Cleanup(func() { log.Close() })
	probe := memlog.New(memlog.Options{Partitions: 2})
	defer probe.Close()
	keyOf := map[string]string{} // by partition
	for i := range 50 {
		e := timed(0)
		e.ID, e.PartitionKey = fmt.Sprint(i), fmt.Sprint(i)
		at, err := probe.Append(t.Context(), []eventlog.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		keyOf[at[0].Partition] = e.PartitionKey
	}
	n := 0
	db := openAt(t, later, memstore.New())
	fold := func(partition string, e eventlog.Event) *projection.Runner {
		t.Helper()
		n++
		e.ID, e.PartitionKey = fmt.Sprint(n), keyOf[partition]
		if _, err := log.Append(t.Context(), []eventlog.Event{e}); err != nil {
			t.Fatal(err)
		}
		return run(t, endedCopy(t, log, 2), db, quick())
	}
	left := func(want int, when string) {
		t.Helper()
		if n := leftAfterSweep(t, db, "a", "b"); n != want {
			t.Errorf("%s: %d rows are left, want %d", when, n, want)
		}
	}
	fold("0", timed(0, mortal("a")))
	fold("0", timed(90))
	left(0, "one partition")
	fold("0", timed(91, mortal("a")))
	fold("1", timed(0, mortal("b")))
	left(2, "another partition begins")
	fold("0", timed(120))
	left(2, "the first goes on")
	fold("1", timed(61))
	left(0, "both are past the end")
}

// endedCopy is a copy of the log that ends.
func endedCopy(t *testing.T, log *memlog.Log, partitions int) *memlog.Log {
	t.Helper()
	copied := memlog.New(memlog.Options{Partitions: partitions})
	t.Cleanup(func() { copied.Close() })
	for p := range partitions {
		events, err := log.Read(t.Context(), fmt.Sprint(p), 0, 1000)
		if err == nil && len(events) > 0 {
			_, err = copied.Append(t.Context(), events)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copied.End()
	return copied
}

// TestARetryFindsNoRowThatHasExpiredSince, whether it has been removed or not.
func TestARetryFindsNoRowThatHasExpiredSince(t *testing.T) {
	var letters [2][]string
	for i, sweep := range []bool{false, true} {
		db := openAt(t, later, memstore.New())
		log := logOf(t, timed(0, mortal("a")), timed(1, needs("none", 1), needs("a", 1)), timed(90, upsert("none", 1)))
		r := run(t, log, db, quick())
		if sweep {
			if n := leftAfterSweep(t, db, "a"); n != 0 {
				t.Errorf("%d rows are left, want none", n)
			}
		}
		letters[i] = deadLettersOf(t, r)
		err := r.Retry(t.Context(), letters[i][0])
		if err == nil || !strings.Contains(err.Error(), `update Script row "a" "v1": there is no such row`) {
			t.Errorf("swept %v: retry: %v, want that there is no row", sweep, err)
		}
	}
	if diff := cmp.Diff(letters[0], letters[1]); diff != "" {
		t.Errorf("dead letters without a sweep and with one:\n%s", diff)
	}
}
