package embeddedlog_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// ledger is what writers were told before the crash.
type ledger struct {
	mu    sync.Mutex
	acked map[string]uint64 // event id to offset
}

// note takes down an answer and returns how many events have been acknowledged.
func (l *ledger) note(events []eventlog.Event, at []eventlog.AppendResult) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range events {
		l.acked[e.ID] = at[i].Offset
	}
	return len(l.acked)
}

func (l *ledger) copy() map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.acked)
}

// batch makes the events of one append: its number and size can be told from each.
func batch(writer, n, size int) []eventlog.Event {
	events := make([]eventlog.Event, size)
	for i := range events {
		events[i] = eventlog.Event{
			ID:     fmt.Sprintf("%d/%d/%d/%d", writer, n, i, size),
			Source: "/crash", Type: "Happened", Subject: fmt.Sprint(writer),
			Data: fmt.Appendf(nil, `{"text":"%0512d"}`, n),
		}
	}
	return events
}

// TestNothingAcknowledgedIsLostInACrash stops the file system at random moments while several append, with all, some or
// none of what was not synced still reaching the disk, and opens what is left.
func TestNothingAcknowledgedIsLostInACrash(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	fs := crashfs.New()
	known := map[string]uint64{}
	for round := range 12 {
		l := open(t, embeddedlog.Options{Dir: "log", FS: fs})
		verify(t, l, known)
		book := &ledger{acked: known}
		crashed, survivors := crashWhileAppending(t, l, fs, book, round, rnd)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		fs, known = crashed, survivors
	}
}

// crashWhileAppending returns the file system as the crash left it, and what had been acknowledged before.
func crashWhileAppending(t *testing.T, l *embeddedlog.Log, fs *crashfs.FS, book *ledger, round int, rnd *rand.Rand) (
	*crashfs.FS, map[string]uint64,
) {
	ctx, stop := context.WithCancel(t.Context())
	reached := make(chan struct{})
	until := len(book.copy()) + 20 + rnd.IntN(300)
	var once sync.Once
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				events := batch(w+10*round, n, 1+(n+w)%7)
				at, err := l.Append(ctx, events)
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("Append: %v", err)
					}
					return
				}
				if book.note(events, at) >= until {
					once.Do(func() { close(reached) })
				}
			}
		})
	}
	<-reached
	known := book.copy() // before the crash: what is acknowledged in between may or may not be there
	percent := []int{0, 0, 50, 100}[rnd.IntN(4)]
	crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rnd})
	stop()
	writers.Wait()
	return crashed, known
}

// verify checks that what is known is there, without gap or duplicate, and batches whole.
func verify(t *testing.T, l *embeddedlog.Log, known map[string]uint64) {
	t.Helper()
	head, err := l.Head(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	found, of := map[string]uint64{}, map[string]int{}
	for after := uint64(0); after < head; {
		events, err := l.Read(t.Context(), "0", after, 100)
		if err != nil || len(events) == 0 {
			t.Fatalf("read after %d of %d: %d events, error %v", after, head, len(events), err)
		}
		for _, e := range events {
			after++
			if e.Offset != after {
				t.Fatalf("offset %d where %d should be", e.Offset, after)
			}
			if other, ok := found[e.ID]; ok {
				t.Fatalf("event %s is at %d and at %d", e.ID, other, after)
			}
			found[e.ID] = after
			var writer, n, i, size int
			fmt.Sscanf(e.ID, "%d/%d/%d/%d", &writer, &n, &i, &size)
			of[fmt.Sprintf("%d/%d of %d", writer, n, size)]++
		}
	}
	for id, offset := range known {
		if found[id] != offset {
			t.Errorf("event %s was acknowledged at %d and is at %d", id, offset, found[id])
		}
	}
	for name, count := range of {
		var writer, n, size int
		fmt.Sscanf(name, "%d/%d of %d", &writer, &n, &size)
		if count != size {
			t.Errorf("of batch %s only %d events are there", name, count)
		}
		again, err := l.Append(t.Context(), batch(writer, n, size))
		if err != nil || slices.ContainsFunc(again, func(a eventlog.AppendResult) bool { return !a.Duplicate }) {
			t.Errorf("batch %s sent again: %v, error %v", name, again, err)
		}
	}
}
