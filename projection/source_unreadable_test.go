package projection_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// torn is a log that fails reads as it is told.
type torn struct {
	*memlog.Log
	before func(partition string) error
	gone   bool // partition 0
}

func (l *torn) Partitions(ctx context.Context) ([]string, error) {
	all, err := l.Log.Partitions(ctx)
	if l.gone {
		all = slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == "0" })
	}
	return all, err
}

func (l *torn) Wait(ctx context.Context, after eventlog.Offsets) error {
	if l.gone {
		after = maps.Clone(after)
		after["0"] = math.MaxUint64
	}
	return l.Log.Wait(ctx, after)
}

func (l *torn) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	if err := l.before(partition); err != nil {
		return nil, err
	}
	return l.Log.Read(ctx, partition, after, n)
}

// tornLog is a log of three partitions that has ended, with the rows that are made of it.
func tornLog(t *testing.T) (log *torn, want map[string]int) {
	t.Helper()
	log, want = &torn{Log: memlog.New(memlog.Options{Partitions: 3})}, map[string]int{}
	t.Cleanup(func() { log.Close() })
	for i, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		want[id] = i
		add(t, log.Log, i, event(id, upsert(id, i)))
	}
	log.End()
	return log, want
}

var errTorn = errors.New("its file is torn")

// TestAPartitionThatCannotBeReadHoldsUpNoOther though it comes first. Meanwhile the status says what is the matter, and
// the rows are not taken for complete; when it can be read, it is folded too.
func TestAPartitionThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	log, want := tornLog(t)
	store := newFaultyStore()
	db, cfg := open(t, store), quick()
	cfg.WindowEvents = 1
	cfg.MinBackoff, cfg.MaxBackoff = time.Millisecond, 16*time.Millisecond // so that there are rounds without it
	r := newRunner(t, "script", log, db, cfg)
	reads, attempts := map[string]int{}, 0
	log.before = func(partition string) error {
		reads[partition]++
		s, err := r.Status(t.Context())
		if err != nil {
			return err
		}
		told := s.State == projection.StateStalled && strings.Contains(s.LastError, errTorn.Error()) && s.Rebuilding
		if reads["0"] > 1 && attempts < 8 && !told {
			t.Errorf("partition %s is read: %+v; want it stalled, with the error, and the rows not served", partition, s)
		}
		switch {
		case partition != "0" || attempts == 8:
			return nil
		case reads["0"] == 2 && (reads["1"] == 0 || reads["2"] == 0):
			return eventlog.ErrClosed // it is tried again before the others are read: the test ends
		case s.Partitions[1].Lag == 0 && s.Partitions[2].Lag == 0:
			attempts++ // while there is nothing else to fold
		}
		return errTorn
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if s := status(t, r); s.LastError != "" || s.Rebuilding || s.Lag > 0 {
		t.Errorf("status %+v, want all folded, and no error", s)
	}
}

// TestANewEventDoesNotWaitForAPartitionThatCannotBeRead, however long that has lasted.
func TestANewEventDoesNotWaitForAPartitionThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &torn{Log: memlog.New(memlog.Options{Partitions: 2})}
		defer log.Close()
		log.before = func(partition string) error {
			if partition == "1" { // the event is in the other
				return errTorn
			}
			return nil
		}
		store := newFaultyStore()
		db := open(t, store)
		r := newRunner(t, "script", log, db, projection.RunnerConfig{})
		ran, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ran) }()
		time.Sleep(time.Hour)
		add(t, log.Log, 1, event("s", upsert("a", 7)))
		time.Sleep(time.Second)
		if diff := cmp.Diff(map[string]int{"a": 7}, totals(t, db, store)); diff != "" {
			t.Errorf("rows a second later (-want +got):\n%s", diff)
		}
		stop()
		<-ended
	})
}

// TestWhatOthersDoIsSeenWhileAPartitionCannotBeRead: another process begins the rows anew, while this one has nothing
// to fold.
func TestWhatOthersDoIsSeenWhileAPartitionCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &torn{Log: memlog.New(memlog.Options{Partitions: 2})}
		defer log.Close()
		log.before = func(partition string) error {
			if partition == "1" { // the event is in the other
				return errTorn
			}
			return nil
		}
		add(t, log.Log, 1, event("s", upsert("a", 7)))
		store := memstore.NewMultiWriter(memstore.Options{})
		db := open(t, store.Join(memstore.Options{}))
		r := newRunner(t, "script", log, db, projection.RunnerConfig{})
		ran, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ran) }()
		time.Sleep(time.Minute)
		former := db.Generations().InUse(Model)
		begin := querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}
		if err := open(t, store.Join(memstore.Options{})).Apply(t.Context(), begin); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if now := db.Generations().InUse(Model); now == former {
			t.Errorf("a minute later generation %d is in use still", now)
		}
		stop()
		<-ended
	})
}

// TestASourceThatDoesNotAnswerIsAskedLessAndLess where partitions can be read, as those of a copy of it.
func TestASourceThatDoesNotAnswerIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &deaf{Log: memlog.New(memlog.Options{Partitions: 2})}
		defer log.Close()
		r := newRunner(t, "script", log, open(t, newFaultyStore()), projection.RunnerConfig{})
		ran, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ran) }()
		time.Sleep(time.Hour)
		stop()
		<-ended
		if n := log.asked.Load(); n < 100 || n > 3000 {
			t.Errorf("asked %d times in an hour, want once in some seconds", n)
		}
	})
}

// deaf is a log that fails whoever waits for its events.
type deaf struct {
	*memlog.Log
	asked atomic.Int64
}

func (d *deaf) Wait(context.Context, eventlog.Offsets) error {
	d.asked.Add(1)
	return errTorn
}

// TestAPartitionThatCannotBeReadIsForgottenWhereItIsGone: then nothing is left to read.
func TestAPartitionThatCannotBeReadIsForgottenWhereItIsGone(t *testing.T) {
	log, _ := tornLog(t)
	log.before = func(partition string) error {
		if partition != "0" {
			return nil
		}
		log.gone = true
		return errTorn
	}
	r := newRunner(t, "script", log, open(t, newFaultyStore()), quick())
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := status(t, r); s.LastError != "" || s.Rebuilding {
		t.Errorf("status %+v, want all that there is folded", s)
	}
}

// TestAReplacedPartitionEndsTheRound: what follows from another log is folded no further in any partition.
func TestAReplacedPartitionEndsTheRound(t *testing.T) {
	log, _ := tornLog(t)
	reads := 0
	log.before = func(partition string) error {
		if reads++; reads > 1 {
			return eventlog.ErrClosed
		}
		return &eventlog.ReplacedError{Partition: partition, Reason: "it was deleted"}
	}
	r := newRunner(t, "script", log, open(t, newFaultyStore()), quick())
	var mismatch *projection.MismatchError
	if err := r.Run(t.Context()); !errors.As(err, &mismatch) || reads > 1 {
		t.Errorf("error %v after %d reads, want a mismatch after the first", err, reads)
	}
}

// TestAMismatchNamesWhatTheSourceSaysIsAnother by the last event of the rows, and by what it is: a log that goes on
// otherwise after a restore was not made anew.
func TestAMismatchNamesWhatTheSourceSaysIsAnother(t *testing.T) {
	const reason = "the log has another event at offset 2 than before"
	log, folded := &torn{Log: memlog.New(memlog.Options{})}, numbered(0, 2, "e")
	defer log.Close()
	if _, err := log.Append(t.Context(), folded); err != nil {
		t.Fatal(err)
	}
	reads := 0
	log.before = func(partition string) error {
		if reads++; reads == 1 {
			return nil
		}
		return &eventlog.ReplacedError{Partition: partition, Reason: reason}
	}
	cfg := quick()
	cfg.WindowEvents = len(folded)
	r := newRunner(t, "script", log, open(t, newFaultyStore()), cfg)
	var mismatch *projection.MismatchError
	if err := r.Run(t.Context()); !errors.As(err, &mismatch) {
		t.Fatal(err)
	}
	for _, want := range []string{"at offset 2", `event "e1"`, ", and the log is another than before: " + reason} {
		if !strings.Contains(mismatch.Error(), want) {
			t.Errorf("it says %q, want %q", mismatch, want)
		}
	}
	if mismatch.Offset != 2 || !mismatch.Recreated {
		t.Errorf("it is %+v, want one at offset 2 of another log", mismatch)
	}
}
