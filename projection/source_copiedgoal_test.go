package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
)

// mirrored is a copy of a log, as a Mirror is: while the log is away, it has nothing to read at its end, and fails
// whoever waits there, or reads behind it.
type mirrored struct {
	*memlog.Log
	has, knows uint64 // events, and how many it knows that the log has
	away       atomic.Bool
	waits      chan struct{} // gets a value when somebody is told that there is nothing to wait for
}

var errLogAway = errors.New("the log is away")

func (m *mirrored) Head(ctx context.Context, partition string) (uint64, error) {
	if m.away.Load() {
		return m.knows, nil
	}
	return m.Log.Head(ctx, partition)
}

func (m *mirrored) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	switch {
	case !m.away.Load():
		return m.Log.Read(ctx, partition, after, most)
	case after == m.has:
		return nil, nil
	case after > m.has:
		return nil, errLogAway
	}
	return m.Log.Read(ctx, partition, after, min(most, int(m.has-after)))
}

func (m *mirrored) Wait(ctx context.Context, after eventlog.Offsets) error {
	if !m.away.Load() {
		return m.Log.Wait(ctx, after)
	}
	select {
	case m.waits <- struct{}{}:
		return errLogAway
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until a run has found nothing to read at the end of the copy, several times.
func (m *mirrored) await(t *testing.T, run *running) {
	t.Helper()
	for range 3 {
		select {
		case <-m.waits:
		case err := <-run.done:
			t.Fatalf("the run has ended: %v", err)
		case <-time.After(30 * time.Second):
			t.Fatal("nobody waits at the end of the copy within 30 s")
		}
	}
}

// back has the log be there again, and waits until the run has come to its end.
func (m *mirrored) back(t *testing.T, run *running) {
	t.Helper()
	m.away.Store(false)
	for {
		select {
		case <-m.waits: // of a wait that has begun before
		case err := <-run.done:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-time.After(30 * time.Second):
			t.Fatal("the run has not ended within 30 s")
		}
	}
}

// told is a mirrored that says that the log is away, as one does which is not at another server.
type told struct{ *mirrored }

func (c told) Current(context.Context, string) error {
	if c.away.Load() {
		return errLogAway
	}
	return nil
}

// unnamed is a told that knows of no partitions while the log is away.
type unnamed struct{ told }

func (u unnamed) Partitions(ctx context.Context) ([]string, error) {
	if u.away.Load() {
		return nil, nil
	}
	return u.told.Partitions(ctx)
}

// TestRowsAreNotCompleteWhereTheCopyEndsThatTheyAreFoldedFrom: its log, which goes on, is away. They are when it is
// back, and they have come to its end.
func TestRowsAreNotCompleteWhereTheCopyEndsThatTheyAreFoldedFrom(t *testing.T) {
	const all, has = 9, 3
	for name, c := range map[string]struct {
		knows uint64
		as    func(*mirrored) eventlog.Source
	}{
		"it knows where the log ends":       {all, func(m *mirrored) eventlog.Source { return told{m} }},
		"it knows no more than it has":      {has, func(m *mirrored) eventlog.Source { return told{m} }},
		"it has lost the partition":         {0, func(m *mirrored) eventlog.Source { return unnamed{told{m}} }},
		"another server has it":             {all, func(m *mirrored) eventlog.Source { return m }},
		"another server, which was started": {has, func(m *mirrored) eventlog.Source { return m }},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mirrored{Log: logOf(t, countsOf(all)...), has: has, knows: c.knows, waits: make(chan struct{})}
			store := newFaultyStore()
			db := open(t, store)
			store.after = func(int) error { // when the rows are begun, up to the end of the log
				m.away.Store(true)
				store.after = nil
				return nil
			}
			_, run := inBackground(t, newRunner(t, "script", c.as(m), db, quick()))
			m.await(t, run)
			wantIncomplete(t, db, "at the end of the copy")
			m.back(t, run)
			wantTotal(t, db, all, "at the end of the log")
		})
	}
}

// TestRowsAreCompleteWhereTheLogEndsBeforeTheirGoal, which it has lost: no event brings them there.
func TestRowsAreCompleteWhereTheLogEndsBeforeTheirGoal(t *testing.T) {
	lost := &shortened{Log: logOf(t, countsOf(9)...)}
	lost.end.Store(9)
	store := newFaultyStore()
	db := open(t, store)
	store.after = func(int) error {
		lost.end.Store(3)
		store.after = nil
		return nil
	}
	r := newRunner(t, "script", lost, db, quick())
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 3, "at the end of the log")
}

// shortened is a log that has lost its last events.
type shortened struct {
	*memlog.Log
	end atomic.Uint64
}

func (s *shortened) Head(context.Context, string) (uint64, error) { return s.end.Load(), nil }

func (s *shortened) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if end := s.end.Load(); after < end {
		return s.Log.Read(ctx, partition, after, min(most, int(end-after)))
	}
	return nil, nil
}

func (s *shortened) Wait(ctx context.Context, after eventlog.Offsets) error {
	after["0"] += 9 - s.end.Load()
	return s.Log.Wait(ctx, after)
}

// TestRowsThatWereBegunWithoutAGoalGetOne: an earlier version has begun them, and the source did not say where it ends.
func TestRowsThatWereBegunWithoutAGoalGetOne(t *testing.T) {
	const all, has = 9, 3
	m := &mirrored{Log: logOf(t, countsOf(all)...), has: has, knows: all, waits: make(chan struct{})}
	store := newFaultyStore()
	db := open(t, store)
	begun, stop := context.WithCancel(ctx())
	store.after = func(int) error {
		stop()
		return nil
	}
	if err := newRunner(t, "script", m, db, quick()).Run(begun); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	store.after = nil
	n, err := db.Notes().Get(ctx(), "completion", "script")
	if err != nil {
		t.Fatal(err)
	}
	record := map[string]any{}
	if err := json.Unmarshal(n.Value, &record); err != nil || record["goal"] == nil {
		t.Fatalf("on record is %s, %v; want a goal", n.Value, err)
	}
	delete(record, "goal")
	if n.Value, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	if err := db.Apply(ctx(), querydb.Batch{Notes: []querydb.Note{n}}); err != nil {
		t.Fatal(err)
	}
	m.away.Store(true)
	_, run := inBackground(t, newRunner(t, "script", m, db, quick()))
	m.await(t, run)
	wantIncomplete(t, db, "at the end of the copy")
	m.back(t, run)
	wantTotal(t, db, all, "at the end of the log")
}
