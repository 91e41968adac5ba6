package eventlog_test

import (
	"testing"
	"testing/synctest"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func tailOf(t *testing.T, after uint64, n int) (tail *eventlog.Tail, add func(n int)) {
	t.Helper()
	log, all := memlog.New(memlog.Options{}), 0
	add = func(n int) {
		t.Helper()
		if _, err := log.Append(t.Context(), sourcetest.Events(all + n)[all:]); err != nil {
			t.Fatal(err)
		}
		all += n
	}
	add(n)
	return &eventlog.Tail{Source: log, After: eventlog.Offsets{"0": after}}, add
}

// TestATailLeavesFirstEventsOut, whoever reads it from wherever.
func TestATailLeavesFirstEventsOut(t *testing.T) {
	tail, _ := tailOf(t, 5, 9)
	for after, want := range map[uint64]uint64{0: 6, 4: 6, 5: 6, 6: 7} {
		events, err := tail.Read(t.Context(), "0", after, 10)
		if err != nil || len(events) == 0 || events[0].Offset != want {
			t.Errorf("after %d: %d events, %v; want them from %d", after, len(events), err, want)
		}
	}
}

// TestNobodyComesFurtherThanTheSource, where the events that are wanted begin behind its end: a checkpoint there would
// be one of another source.
func TestNobodyComesFurtherThanTheSource(t *testing.T) {
	tail, add := tailOf(t, 5, 3)
	empty := func(after, want uint64) {
		t.Helper()
		if events, err := tail.Read(t.Context(), "0", after, 10); err != nil || len(events) > 0 {
			t.Fatalf("%d events after %d, %v", len(events), after, err)
		}
		if through, err := eventlog.EmptyThrough(t.Context(), tail, "0", after); err != nil || through != want {
			t.Errorf("EmptyThrough(%d) = %d, %v; want %d", after, through, err, want)
		}
	}
	empty(0, 3)
	empty(3, 3)
	add(2)
	empty(3, 5)
	add(1)
	if events, err := tail.Read(t.Context(), "0", 5, 10); err != nil || len(events) != 1 || events[0].Offset != 6 {
		t.Errorf("%d events, %v; want the sixth", len(events), err)
	}
}

// TestWhoWaitsForATailIsWokenByWhatIsWanted alone.
func TestWhoWaitsForATailIsWokenByWhatIsWanted(t *testing.T) {
	for _, after := range []eventlog.Offsets{nil, {"0": 2}, {"0": 5}} {
		synctest.Test(t, func(t *testing.T) {
			tail, add := tailOf(t, 5, 3)
			woken := make(chan error, 1)
			go func() { woken <- tail.Wait(t.Context(), after) }()
			add(2)
			synctest.Wait()
			select {
			case err := <-woken:
				t.Fatalf("after %v: woken by an event that is not wanted: %v", after, err)
			default:
			}
			add(1)
			if err := <-woken; err != nil {
				t.Errorf("after %v: %v", after, err)
			}
		})
	}
}
