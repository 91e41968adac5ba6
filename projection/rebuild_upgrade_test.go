package projection_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// formerly rewrites what is on record of the script into the form of earlier versions, to the letter.
func formerly(t *testing.T, db *querydb.DB) {
	t.Helper()
	read := func(kind string) []querydb.Note {
		notes, err := db.Notes().List(t.Context(), kind, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		return notes
	}
	var at struct {
		Version, Table string
		Generation     int
	}
	header, err := db.Notes().Value(t.Context(), "projection", "script")
	if err == nil {
		err = json.Unmarshal(header, &at)
	}
	if err != nil {
		t.Fatal(err)
	}
	about := fmt.Sprintf("%s.g%d:script", at.Table, at.Generation)
	var partitions []string
	var notes []querydb.Note
	for _, n := range read("checkpoint:" + about) {
		var c struct{ Offset, Step int }
		if err := json.Unmarshal(n.Value, &c); err != nil {
			t.Fatal(err)
		}
		replayed := ""
		if c.Step > 0 {
			replayed = fmt.Sprintf(`,"replayed":%d`, c.Step)
		}
		partitions = append(partitions, fmt.Sprintf(`%q:{"offset":%d%s}`, n.ID, c.Offset, replayed))
		notes = append(notes, querydb.Note{Kind: n.Kind, ID: n.ID})
	}
	without := func(value []byte, names ...string) []byte {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(value, &m); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			delete(m, name)
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, n := range read("deadletter:" + about) {
		notes = append(notes, querydb.Note{Kind: n.Kind, ID: n.ID},
			querydb.Note{Kind: "aside:script", ID: n.ID, Value: without(n.Value, "hash")})
	}
	for _, n := range read("decision:script") {
		notes = append(notes, querydb.Note{Kind: n.Kind, ID: n.ID},
			querydb.Note{Kind: "replay:script", ID: n.ID, Value: without(n.Value, "generation", "event", "after")})
	}
	notes = append(notes, querydb.Note{Kind: "projection", ID: "script"}, querydb.Note{Kind: "checkpoint", ID: "script",
		Value: fmt.Appendf(nil, `{"version":%q,"table":%q,"generation":%d,"partitions":{%s}}`,
			at.Version, at.Table, at.Generation, strings.Join(partitions, ","))})
	if err := db.Apply(t.Context(), querydb.Batch{Notes: notes}); err != nil {
		t.Fatal(err)
	}
}

// formerLog is a log in which events became dead letters, one was retried and one was skipped.
func formerLog(t *testing.T) *memlog.Log { return openLog(t, broken()...) }

// formerStore is a store of that log as an earlier version has left it.
func formerStore(t *testing.T, log *memlog.Log, drv driver.Driver) {
	t.Helper()
	db := open(t, drv)
	r := run(t, ended(log), db, quick())
	if err := r.Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	add(t, log, 8, event("w", needs("z", 1)), event("w", upsert("z", 10)), event("", set("z", 1)),
		event("v", needs("y", 1)))
	r = run(t, ended(log), db, quick())
	if err := r.Skip(t.Context(), "0@9"); err != nil {
		t.Fatal(err)
	}
	formerly(t, db)
}

// TestAStoreOfAnEarlierVersionIsTakenOverAsItIs, whatever befalls the one that does it, without a fold of what was
// folded.
func TestAStoreOfAnEarlierVersionIsTakenOverAsItIs(t *testing.T) {
	for name, store := range keptStores {
		for fault := int64(0); fault <= 12; fault++ {
			t.Run(fmt.Sprint(name, " fault ", fault), func(t *testing.T) {
				drv, log := store(), formerLog(t)
				formerStore(t, log, drv)
				// The deletion of former notes applies batches in the background.
				var applied atomic.Int64
				faulty := &interrupted{drv, func() error {
					if applied.Add(1) == fault {
						return driver.ErrThrottled
					}
					return nil
				}, func() error {
					if applied.Load() == fault+1 && fault > 0 {
						return driver.ErrUnavailable
					}
					return nil
				}}
				wrapped := driver.Driver(faulty)
				if shared, is := drv.(driver.MultiWriter); is {
					wrapped = struct {
						driver.Driver
						driver.MultiWriter
						driver.TxLimiter
					}{faulty, shared, drv.(driver.TxLimiter)}
				}
				db := open(t, wrapped)
				r := run(t, ended(log), db, quick())
				if s := status(t, r); s.Events != 0 || s.Partitions[0].Checkpoint != 12 {
					t.Errorf("%d events were folded, and the checkpoint is %+v: want none, and 12", s.Events, s.Partitions)
				}
				if diff := cmp.Diff([]string{"0@7", "0@12"}, deadLettersOf(t, r)); diff != "" {
					t.Errorf("dead letters (-want +got):\n%s", diff)
				}
				add(t, log, 12, event("", upsert("o", 100)))
				r = run(t, ended(log), db, quick())
				wanted := []keyOf{{"o", 107}, {"a", 1111}, {"z", 11}}
				for _, k := range wanted {
					if got := totalOf(t, db, k.id); got != k.total {
						t.Errorf("total of %s is %d, want %d", k.id, got, k.total)
					}
				}
				// What was decided holds for a fold of the whole log.
				if err := r.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				run(t, ended(log), db, quick())
				for _, k := range wanted {
					if got := totalOf(t, db, k.id); got != k.total {
						t.Errorf("after a rebuild the total of %s is %d, want %d", k.id, got, k.total)
					}
				}
				next := open(t, drv) // which removes what a fault has left
				run(t, ended(log), next, quick())
				wantFormerRemoved(t, next)
			})
		}
	}
}

// formerKinds are those of dead letters and decisions of earlier versions.
var formerKinds = []string{"aside:script", "replay:script"}

// wantFormerRemoved waits until dead letters and decisions of an earlier version are removed.
func wantFormerRemoved(t *testing.T, db *querydb.DB) {
	t.Helper()
	for _, kind := range append(formerKinds, "leftover") {
		for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
			left, err := db.Notes().List(t.Context(), kind, "", 10)
			if err == nil && len(left) == 0 {
				break
			}
			if err != nil || time.Now().After(end) {
				t.Fatalf("%d notes of kind %s are left, %v", len(left), kind, err)
			}
		}
	}
}

// TestNoProjectionWaitsForNotesOfAnEarlierVersion to be removed when they are taken over: there may be millions.
func TestNoProjectionWaitsForNotesOfAnEarlierVersion(t *testing.T) {
	now := func() time.Time { return epoch }
	shared, log, folded := memstore.NewMultiWriter(memstore.Options{Now: now}), formerLog(t), make(chan struct{})
	formerStore(t, log, shared)
	db := open(t, shared.Join(memstore.Options{Now: now, Before: func(c memstore.Commit) error {
		if !slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool {
			return w.Kind == driver.Delete && slices.Contains(formerKinds, w.Row.Key.PK)
		}) {
			return nil
		}
		select {
		case <-folded:
			return nil
		case <-time.After(time.Minute):
			return fmt.Errorf("%w: nothing is folded before notes are removed", driver.ErrInvalid)
		}
	}}))
	run(t, ended(log), db, quick())
	close(folded)
	wantFormerRemoved(t, db)
}

type keyOf struct {
	id    string
	total int
}

func totalOf(t *testing.T, db *querydb.DB, id string) int {
	t.Helper()
	rows, err := readRows(db, Model, []keys.Key{{PK: id, SK: "v1"}})
	if err != nil {
		t.Fatal(err)
	}
	return rows[Key{ID: id, Version: "v1"}].Row.Total
}

// TestAStoreOfAnEarlierVersionIsComparedWithItsLog when it is taken over, as far as it says what it was folded from.
func TestAStoreOfAnEarlierVersionIsComparedWithItsLog(t *testing.T) {
	drv, log := keptStore{memstore.New()}, formerLog(t)
	formerStore(t, log, drv)
	if m := mismatch(t, logOf(t, broken()...), drv, 10); m == nil || m.Offset != 12 || m.End != 8 {
		t.Errorf("mismatch: %+v, want one of a log that ends before", m)
	}
	run(t, ended(log), open(t, drv), quick())
	other := numbered(0, 20, "e")
	if m := mismatch(t, partitioned(t, 1, other), drv, 10); m == nil {
		t.Error("once it is taken over, another log is not found")
	}
}

// formerRead is how an earlier version reads its checkpoint.
type formerRead struct {
	Version    string `json:"version"`
	Table      string `json:"table"`
	Generation int    `json:"generation"`
}

// TestAnEarlierVersionCannotReadWhatItMustNotGoOnFrom, neither in a store that was taken over, nor in one that was
// made by this version; and what it has in hand it cannot commit.
func TestAnEarlierVersionCannotReadWhatItMustNotGoOnFrom(t *testing.T) {
	for name, former := range map[string]bool{"taken over": true, "made": false} {
		t.Run(name, func(t *testing.T) {
			drv, log := keptStores["shared"](), formerLog(t)
			if former {
				formerStore(t, log, drv)
			}
			db := open(t, drv)
			before, err := db.Notes().Get(t.Context(), "checkpoint", "script")
			if err != nil {
				t.Fatal(err)
			}
			run(t, ended(log), db, quick())
			n, err := db.Notes().Get(t.Context(), "checkpoint", "script")
			if err != nil {
				t.Fatal(err)
			}
			var c formerRead
			if err := json.Unmarshal(n.Value, &c); err == nil {
				t.Errorf("the former note %s can be read", n.Value)
			}
			if n.Revision <= before.Revision {
				t.Errorf("the former note has revision %d, and had %d: a commit made of that would take effect", n.Revision,
					before.Revision)
			}
		})
	}
}

// otherwise is a copy of a log in which the event at an offset has another id.
func otherwise(t *testing.T, log *memlog.Log, offset uint64) *memlog.Log {
	t.Helper()
	events, err := log.Read(t.Context(), "0", 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	events[offset-1].ID += "x"
	return partitioned(t, 1, events)
}

// TestADeadLetterOfAnEarlierVersionThatTheLogDoesNotHoldIsAMismatch, and nothing is taken over. Once the log is
// accepted, decisions that still hold are kept, and no earlier version can go on.
func TestADeadLetterOfAnEarlierVersionThatTheLogDoesNotHoldIsAMismatch(t *testing.T) {
	drv, log := keptStore{memstore.New()}, formerLog(t)
	formerStore(t, log, drv)
	for _, at := range []uint64{7, 12} {
		other := otherwise(t, log, at)
		m := mismatch(t, other, drv, 10)
		if m == nil || m.Offset != at || m.Record != "dead letter" {
			t.Errorf("mismatch: %+v, want one of the dead letter at %d", m, at)
		}
		if all := mismatches(t, other, drv, Projection("script")); len(all) != 1 || all[0].Offset != at {
			t.Errorf("mismatches: %v, want one at %d", all, at)
		}
	}
	if all := mismatches(t, ended(log), drv, Projection("script")); len(all) > 0 {
		t.Errorf("the log of the rows has mismatches %v", all)
	}
	other := otherwise(t, log, 7)
	for range 2 {
		if err := projection.AdoptSource(ctx(), open(t, drv), other, Projection("script")); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, drv)
	n, err := db.Notes().Get(t.Context(), "checkpoint", "script")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(n.Value, &formerRead{}); err == nil {
		t.Errorf("an earlier version can go on from %s", n.Value)
	}
	run(t, other, db, quick())
	for _, k := range []keyOf{{"o", 7}, {"a", 1111}, {"z", 11}} {
		if got := totalOf(t, db, k.id); got != k.total {
			t.Errorf("total of %s is %d, want %d: what was decided is lost", k.id, got, k.total)
		}
	}
}
