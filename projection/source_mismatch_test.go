package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// mismatch folds the log into the store, and returns the mismatch that is found, nil for none.
func mismatch(t interface {
	Helper()
	Fatal(...any)
}, log eventlog.Source, drv driver.Driver, window int) *projection.MismatchError {
	t.Helper()
	db, err := querydb.Open(context.Background(), drv, []*querydb.Model{Model}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.WindowEvents = window
	r, err := projection.NewRunner(Projection("script"), log, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(context.Background())
	var m *projection.MismatchError
	if err != nil && !errors.As(err, &m) {
		t.Fatal(err)
	}
	return m
}

// sharedKept is a kept store that others may write to.
type sharedKept struct{ *memstore.MultiWriter }

func (sharedKept) Close() error { return nil }

var keptStores = map[string]func() driver.Driver{
	"plain": func() driver.Driver { return keptStore{memstore.New()} },
	"shared": func() driver.Driver {
		return sharedKept{memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})}
	},
}

// partitioned makes a log of n partitions that has ended.
func partitioned(t testing.TB, n int, events []eventlog.Event) *memlog.Log {
	t.Helper()
	log := memlog.New(memlog.Options{Partitions: n})
	t.Cleanup(func() { log.Close() })
	if len(events) > 0 {
		if _, err := log.Append(context.Background(), events); err != nil {
			t.Fatal(err)
		}
	}
	log.End()
	return log
}

// numbered are events of several subjects, the same for the same numbers.
func numbered(from, to int, mark string) []eventlog.Event {
	var events []eventlog.Event
	for i := from; i < to; i++ {
		e := event(fmt.Sprint("subject ", i%7), upsert(fmt.Sprint("r", i%5), 1))
		e.ID, e.Time = fmt.Sprintf("%s%d", mark, i), epoch
		if i%11 == 10 {
			e = event(fmt.Sprint("subject ", i%7), needs("nowhere", 1))
			e.ID, e.Time = fmt.Sprintf("%s%d", mark, i), epoch
		}
		events = append(events, e)
	}
	return events
}

// TestALogThatIsNotTheOneOfTheRowsIsAlwaysFound cuts and diverts logs of one and several partitions at random: wherever
// rows were folded from events that the log does not hold any more, nothing more is folded; else all goes on.
func TestALogThatIsNotTheOneOfTheRowsIsAlwaysFound(t *testing.T) {
	for name, store := range keptStores {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				partitions := rapid.IntRange(1, 3).Draw(rt, "partitions")
				folded := rapid.IntRange(1, 60).Draw(rt, "folded")
				window := rapid.IntRange(1, 70).Draw(rt, "window")
				keep := rapid.IntRange(0, folded).Draw(rt, "kept")
				others := rapid.IntRange(0, 80).Draw(rt, "others")
				drv := store()
				before := partitioned(t, partitions, numbered(0, folded, "e"))
				if m := mismatch(rt, before, drv, window); m != nil {
					rt.Fatal(m)
				}
				mark := rapid.SampledFrom([]string{"e", "other"}).Draw(rt, "mark")
				now := append(numbered(0, keep, "e"), numbered(keep, keep+others, mark)...)
				whole := keep == folded || mark == "e" && keep+others >= folded
				m := mismatch(rt, partitioned(t, partitions, now), drv, window)
				if (m == nil) != whole {
					rt.Errorf("mismatch: %v; the log holds all that was folded: %t", m, whole)
				}
				if whole {
					return
				}
				// It is found again, and the log as it was is gone on with.
				if mismatch(rt, partitioned(t, partitions, now), drv, window) == nil {
					rt.Error("the second time the mismatch is not found")
				}
				if m := mismatch(rt, partitioned(t, partitions, numbered(0, folded+5, "e")), drv, window); m != nil {
					rt.Error(m)
				}
			})
		})
	}
}

// TestAMismatchSaysWhatDoesNotFit, and by which event.
func TestAMismatchSaysWhatDoesNotFit(t *testing.T) {
	drv := keptStore{memstore.New()}
	if m := mismatch(t, partitioned(t, 1, numbered(0, 9, "e")), drv, 4); m != nil {
		t.Fatal(m)
	}
	short := mismatch(t, partitioned(t, 1, numbered(0, 5, "e")), drv, 4)
	if short == nil || short.Projection != "script" || short.Partition != "0" || short.Record != "checkpoint" ||
		short.Offset != 9 || short.End != 5 || short.Found != "" {
		t.Errorf("of a log that ends before: %+v", short)
	}
	other := mismatch(t, partitioned(t, 1, slices.Concat(numbered(0, 5, "e"), numbered(5, 30, "o"))), drv, 4)
	if other == nil || other.Offset != 9 || other.End != 30 || other.Found == "" {
		t.Errorf("of a log with other events: %+v", other)
	}
	fewer := mismatch(t, noPartition{partitioned(t, 1, nil)}, drv, 4)
	if fewer == nil || fewer.End != 0 {
		t.Errorf("of a source without the partition: %+v", fewer)
	}
}

type noPartition struct{ *memlog.Log }

func (noPartition) Partitions(context.Context) ([]string, error) { return nil, nil }

// TestALogMadeAgainIsAnother, although it holds the same events.
func TestALogMadeAgainIsAnother(t *testing.T) {
	for name, store := range keptStores {
		t.Run(name, func(t *testing.T) {
			drv, log := store(), partitioned(t, 2, numbered(0, 20, "e"))
			if m := mismatch(t, made{log, "one"}, drv, 4); m != nil {
				t.Fatal(m)
			}
			if m := mismatch(t, made{log, "one"}, drv, 4); m != nil {
				t.Fatal(m)
			}
			if m := mismatch(t, made{log, "two"}, drv, 4); m == nil || !m.Recreated {
				t.Errorf("mismatch: %+v, want one of a log that was recreated", m)
			}
		})
	}
}

// TestASourceThatSaysItIsAnotherIsAMismatch, and one that cannot be asked for what it may have is none.
func TestASourceThatSaysItIsAnotherIsAMismatch(t *testing.T) {
	for name, c := range map[string]struct {
		end  int
		says error
		want bool
	}{
		"another":              {9, &eventlog.ReplacedError{Partition: "0", Reason: "it is"}, true},
		"another that is less": {5, &eventlog.ReplacedError{Partition: "0", Reason: "it is"}, true},
		"away":                 {5, errors.New("away"), false},
	} {
		t.Run(name, func(t *testing.T) {
			drv := keptStore{memstore.New()}
			if m := mismatch(t, partitioned(t, 1, numbered(0, 9, "e")), drv, 4); m != nil {
				t.Fatal(m)
			}
			db, err := querydb.Open(t.Context(), drv, []*querydb.Model{Model}, querydb.Config{})
			if err != nil {
				t.Fatal(err)
			}
			src := unreadable{partitioned(t, 1, numbered(0, c.end, "e")), c.says}
			all, err := projection.FindMismatches(t.Context(), db, src, Projection("script"))
			if c.want && (err != nil || len(all) == 0 || !all[0].Recreated) {
				t.Errorf("%+v, %v; want that it was recreated", all, err)
			}
			if !c.want && (!errors.Is(err, c.says) || len(all) > 0) {
				t.Errorf("%+v, %v; want what it says", all, err)
			}
		})
	}
}

// unreadable is a log that knows its end, and cannot be read.
type unreadable struct {
	*memlog.Log
	says error
}

func (u unreadable) Read(context.Context, string, uint64, int) ([]eventlog.Event, error) {
	return nil, u.says
}

// made is a log with an incarnation.
type made struct {
	*memlog.Log
	incarnation string
}

func (m made) Incarnation(context.Context, string) (string, error) { return m.incarnation, nil }

// TestEventsThatASourceHasForgottenStopNothing where the checkpoint covers them.
func TestEventsThatASourceHasForgottenStopNothing(t *testing.T) {
	for from := uint64(1); from <= 20; from++ {
		drv := keptStore{memstore.New()}
		var events []eventlog.Event
		for _, e := range numbered(0, 21, "e") {
			if e.ID != "e10" { // which would be a dead letter
				events = append(events, e)
			}
		}
		if m := mismatch(t, partitioned(t, 1, events[:9]), drv, 4); m != nil {
			t.Fatal(m)
		}
		m := mismatch(t, forgetful{partitioned(t, 1, events), from}, drv, 4)
		if m != nil {
			t.Errorf("without the events before %d: %v", from, m)
		}
	}
}

// forgetful is a log whose first events are gone.
type forgetful struct {
	*memlog.Log
	from uint64
}

func (f forgetful) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	return f.Log.Read(ctx, partition, max(after, f.from-1), most)
}

// TestOfTwoLogsTheFirstThatIsFoldedHasTheRows: on a store that others write to, two processes begin at once, each
// with a log of its own. What the slower one has in hand when the other's first row is written never takes effect.
func TestOfTwoLogsTheFirstThatIsFoldedHasTheRows(t *testing.T) {
	for commit := 1; commit <= 5; commit++ {
		s := newSetting(t)
		ours, theirs := partitioned(t, 1, numbered(0, 6, "e")), partitioned(t, 1, numbered(0, 9, "o"))
		n, first := 0, error(nil)
		slow := s.server(ours, 2, memstore.Options{Before: func(memstore.Commit) error {
			if n++; n == commit {
				first = s.server(theirs, 2, memstore.Options{}).Run(context.Background())
			}
			return nil
		}})
		second := slow.Run(context.Background())
		var m *projection.MismatchError
		if (first == nil) == (second == nil) || !errors.As(errors.Join(first, second), &m) {
			t.Errorf("held up before commit %d: %v, and %v: want one of them to be refused", commit, first, second)
		}
	}
}

// TestADeadLetterThatTheLogDoesNotHoldIsFound, though the checkpoint fits.
func TestADeadLetterThatTheLogDoesNotHoldIsFound(t *testing.T) {
	events := broken()
	for i := range events {
		events[i].ID, events[i].Time = fmt.Sprint(i), epoch
	}
	fold := func(t *testing.T) (driver.Driver, *projection.Runner) {
		drv := keptStore{memstore.New()}
		db := open(t, drv)
		return drv, run(t, partitioned(t, 1, events), db, quick())
	}
	other := slices.Clone(events)
	other[1].ID = "other"
	t.Run("dead letter", func(t *testing.T) {
		drv, _ := fold(t)
		if m := mismatch(t, partitioned(t, 1, other), drv, 100); m == nil || m.Record != "dead letter" || m.Offset != 2 {
			t.Errorf("mismatch: %+v", m)
		}
	})
	t.Run("decision", func(t *testing.T) {
		drv, r := fold(t)
		if err := r.Retry(t.Context(), "0@2"); err != nil {
			t.Fatal(err)
		}
		if m := mismatch(t, partitioned(t, 1, other), drv, 100); m == nil || m.Record != "decision" || m.Offset != 2 {
			t.Errorf("mismatch: %+v", m)
		}
	})
	t.Run("the moment of a decision", func(t *testing.T) {
		drv, r := fold(t)
		if err := r.Retry(t.Context(), "0@2"); err != nil {
			t.Fatal(err)
		}
		last := slices.Clone(events)
		last[7].ID = "other"
		if m := mismatch(t, partitioned(t, 1, append(last, numbered(0, 3, "e")...)), drv, 100); m == nil || m.Offset != 8 {
			t.Errorf("mismatch: %+v", m)
		}
	})
}

// TestARebuildForAnotherVersionIsNotBegunFromAnotherLog: the events that the former rows hold would be lost with them.
func TestARebuildForAnotherVersionIsNotBegunFromAnotherLog(t *testing.T) {
	s := newSetting(t)
	s.fold(partitioned(t, 1, numbered(0, 9, "e")), 4)
	s.ops = Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.Version = "2"
	})
	var m *projection.MismatchError
	err := s.server(partitioned(t, 1, numbered(0, 5, "e")), 4, memstore.Options{}).Run(t.Context())
	if !errors.As(err, &m) {
		t.Errorf("run: %v, want a mismatch", err)
	}
}
