package mirror

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

const (
	partition0 = "0"
	look       = 2 * time.Millisecond
)

// copyOf is a caught-up copy of a source in a directory.
func copyOf(t testing.TB, dir string, src *scripted) caughtUp {
	t.Helper()
	return caughtUp{open(t, Options{Dir: dir, Source: src}), src}
}

func shut(t testing.TB, m caughtUp) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// ids are those of events, in order.
func ids(events []eventlog.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.ID)
	}
	return all
}

// marred is a source whose tenth event its mapping does not understand.
type marred struct{ *scripted }

func (m marred) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	events, err := m.scripted.Read(ctx, name, after, most)
	events = slices.Clone(events)
	for i := range events {
		if events[i].Offset == 10 {
			events[i].Malformed = errors.New("the mapping is wrong")
		}
	}
	return events, err
}

// TestAnotherMappingMakesNoOtherLog: the copy goes on, and what is copied stays as it was read.
func TestAnotherMappingMakesNoOtherLog(t *testing.T) {
	messages := func(mapping string) []eventlog.Event {
		all := sourcetest.Events(20)
		for i := range all {
			all[i].MessageHash, all[i].ID = "message "+all[i].ID, mapping+all[i].ID
		}
		return all
	}
	former, now := messages("former-"), messages("now-")
	src, dir := newScripted(t, former[:10]), t.TempDir()
	m := caughtUp{open(t, Options{Dir: dir, Source: marred{src}}), src}
	m.catchUp(t.Context())
	shut(t, m)
	src.change(func() { src.Log = newScripted(t, now).Log })
	m = copyOf(t, dir, src)
	until(t, "going on", func() bool { p, _ := m.state.at(partition0); return p.Through == 20 })
	wantEvents(t, append(former[:10:10], now[10:]...), drain(t, m, partition0, 0))
}

func wantEvents(t testing.TB, want, got []eventlog.Event) {
	t.Helper()
	if diff := cmp.Diff(ids(want), ids(got)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
}

// TestWhatTheSourceForgetsStaysInTheCopy, also while the source is away and the copy is opened again.
func TestWhatTheSourceForgetsStaysInTheCopy(t *testing.T) {
	all, dir := sourcetest.Events(60), t.TempDir()
	src := newScripted(t, all[:40])
	m := copyOf(t, dir, src)
	m.catchUp(t.Context())
	src.change(func() { src.forgotten = 40 })
	src.add(t, all[40:])
	wantEvents(t, all, drain(t, m, partition0, 0))
	shut(t, m)

	src.leave()
	m = copyOf(t, dir, src)
	until(t, "telling that the source is away", func() bool { return errors.Is(m.state.failure(), errAway) })
	got, err := m.Mirror.Read(t.Context(), partition0, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	wantEvents(t, all, got)
	if head, err := m.Head(t.Context(), partition0); head != 60 || err != nil {
		t.Errorf("head %d, %v", head, err)
	}
	if is, err := m.Incarnation(t.Context(), partition0); is != "first" || err != nil {
		t.Errorf("incarnation %q, %v", is, err)
	}
	after := eventlog.Offsets{partition0: 60}
	if err := m.Wait(t.Context(), after); !errors.Is(err, errAway) {
		t.Errorf("who waits is told %v", err)
	}
	if some := read(t, m, 60, 1); len(some) > 0 {
		t.Errorf("after the end of the copy came %v", ids(some))
	}
	src.back()
	until(t, "going on", func() bool { return m.state.failure() == nil })
	if some, err := m.Read(t.Context(), partition0, 60, 1); len(some) > 0 || err != nil {
		t.Errorf("%d events, %v", len(some), err)
	}
}

// TestACopyHasNoGaps: what the source has forgotten behind the end of the copy is said to those who are yet to read it,
// until it is there again.
func TestACopyHasNoGaps(t *testing.T) {
	all, dir := sourcetest.Events(60), t.TempDir()
	src := newScripted(t, all[:20])
	m := copyOf(t, dir, src)
	m.catchUp(t.Context())
	shut(t, m)
	src.add(t, all[20:])
	src.change(func() { src.forgotten = 30 })
	m = copyOf(t, dir, src)
	for _, after := range []uint64{20, 29} {
		err := m.Wait(t.Context(), eventlog.Offsets{partition0: after})
		lost := eventlog.ForgottenIn(err)
		if lost == nil || lost.After != 20 || lost.First != 31 || !strings.Contains(err.Error(), dir) {
			t.Errorf("who waits after %d is told %v", after, err)
		}
		if events, err := m.Mirror.Read(t.Context(), partition0, after, 10); len(events) > 0 ||
			after == 29 && eventlog.ForgottenIn(err) == nil {
			t.Errorf("after %d came %v, %v", after, ids(events), err)
		}
	}
	wantEvents(t, all[30:], read(t, m, 30, 100)) // what is forgotten is none of this reader's
	if err := m.Wait(t.Context(), eventlog.Offsets{partition0: 30}); err != nil {
		t.Error(err)
	}
	wantEvents(t, all[:20], read(t, m, 0, 20))
	src.change(func() { src.forgotten = 0 })
	until(t, "going on", func() bool { p, _ := m.state.at(partition0); return p.err == nil })
	wantEvents(t, all, drain(t, m, partition0, 0))
}

// read reads so many events of what is copied.
func read(t testing.TB, m caughtUp, after uint64, most int) []eventlog.Event {
	t.Helper()
	events, err := m.Mirror.Read(t.Context(), partition0, after, most)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// TestANewCopyBeginsWhereTheSourceDoes: who needs what was before is told as the source tells it.
func TestANewCopyBeginsWhereTheSourceDoes(t *testing.T) {
	all, dir := sourcetest.Events(60), t.TempDir()
	src := newScripted(t, all)
	src.change(func() { src.forgotten = 30 })
	for range 2 {
		m := copyOf(t, dir, src)
		m.catchUp(t.Context())
		for _, after := range []uint64{0, 29} {
			_, err := m.Read(t.Context(), partition0, after, 10)
			if lost := eventlog.ForgottenIn(err); lost == nil || lost.After != after || lost.First != 31 {
				t.Errorf("after %d: %v", after, err)
			}
			if _, err := m.EmptyThrough(t.Context(), partition0, after); eventlog.ForgottenIn(err) == nil {
				t.Errorf("after %d, it says what is empty: %v", after, err)
			}
		}
		wantEvents(t, all[30:], read(t, m, 30, 100))
		shut(t, m)
		src.leave() // and the copy knows it by itself
	}
}

// TestACopyIsOfOneLog: another log in the place of the one that was copied, or the same that has lost its end, is
// never read, whether it comes while the copy is open or not.
func TestACopyIsOfOneLog(t *testing.T) {
	all := sourcetest.Events(40)
	others := sourcetest.Events(40)
	for i := range others {
		others[i].ID = "other-" + others[i].ID
	}
	log := func(events ...eventlog.Event) *memlog.Log { return newScripted(t, events).Log }
	for name, c := range map[string]struct {
		becomes     *memlog.Log
		incarnation string
	}{
		"made anew, with other events": {log(others...), "second"},
		"made anew, with the same":     {log(all...), "second"},
		"with another end":             {log(append(all[:20:20], others[20:]...)...), "first"},
		"without its end":              {log(all[:20]...), "first"},
		"empty":                        {log(), "first"},
	} {
		t.Run(name, func(t *testing.T) {
			src, dir := newScripted(t, all[:30]), t.TempDir()
			m := copyOf(t, dir, src)
			m.catchUp(t.Context())
			shut(t, m)
			src.change(func() { src.Log, src.incarnation = c.becomes, c.incarnation })
			m = copyOf(t, dir, src)
			until(t, "telling", func() bool {
				replaced, err := m.Replaced(t.Context())
				return eventlog.Replaced(replaced) && err == nil
			})
			for _, after := range []uint64{0, 25, 30, 39} {
				if some, err := m.Mirror.Read(t.Context(), partition0, after, 10); !eventlog.Replaced(err) {
					t.Errorf("after %d: %d events, %v", after, len(some), err)
				}
			}
			if err := m.Wait(t.Context(), eventlog.Offsets{partition0: 30}); !eventlog.Replaced(err) {
				t.Errorf("who waits is told %v", err)
			}
			if is, err := m.Incarnation(t.Context(), partition0); is != c.incarnation || err != nil {
				t.Errorf("incarnation %q, %v", is, err)
			}
			if head, err := m.Head(t.Context(), partition0); head != 30 || err != nil {
				t.Errorf("head %d, %v; the copy has 30 events", head, err)
			}
		})
	}
}

// TestAReaderFurtherOnThanTheCopyReadsTheSource, as rows may be that were folded before there was a copy.
func TestAReaderFurtherOnThanTheCopyReadsTheSource(t *testing.T) {
	all, dir := sourcetest.Events(60), t.TempDir()
	src := newScripted(t, all[:20])
	m := copyOf(t, dir, src)
	m.catchUp(t.Context())
	src.leave()
	until(t, "telling that the source is away", func() bool { return errors.Is(m.state.failure(), errAway) })
	src.add(t, all[20:])
	if head, err := m.Head(t.Context(), partition0); head != 20 || err != nil {
		t.Errorf("head %d, %v; the copy has 20 events", head, err)
	}
	for offset, known := range map[uint64]bool{20: true, 21: false} { // whether the log ends before it
		head, ends, err := eventlog.EndsBefore(t.Context(), m, partition0, offset)
		if head != 20 || ends || errors.Is(err, errAway) == known {
			t.Errorf("that the log ends before %d: %t, head %d, %v", offset, ends, head, err)
		}
	}
	if some, err := m.Mirror.Read(t.Context(), partition0, 40, 100); !errors.Is(err, errAway) {
		t.Errorf("it says of what is not copied: %d events, %v", len(some), err)
	}
	if err := m.Wait(t.Context(), eventlog.Offsets{partition0: 40}); !errors.Is(err, errAway) {
		t.Errorf("who waits is told %v", err)
	}
	src.back()
	until(t, "going on", func() bool { return m.state.failure() == nil })
	wantEvents(t, all[40:], read(t, m, 40, 100))
	for offset, want := range map[uint64]bool{60: false, 61: true} {
		head, ends, err := eventlog.EndsBefore(t.Context(), m, partition0, offset)
		if head != 60 || ends != want || err != nil {
			t.Errorf("that the log ends before %d: %t, head %d, %v; want %t", offset, ends, head, err, want)
		}
	}
	if err := m.Wait(t.Context(), eventlog.Offsets{partition0: 40}); err != nil {
		t.Error(err)
	}
}

// TestAnOlderCopyGoesOn where it has come to.
func TestAnOlderCopyGoesOn(t *testing.T) {
	all, dir, older := sourcetest.Events(60), t.TempDir(), t.TempDir()+"/older"
	src := newScripted(t, all[:20])
	m := copyOf(t, dir, src)
	m.catchUp(t.Context())
	if err := m.Snapshot(older); err != nil {
		t.Fatal(err)
	}
	src.add(t, all[20:50])
	m.catchUp(t.Context())
	shut(t, m)
	src.add(t, all[50:])
	wantEvents(t, all, drain(t, copyOf(t, older, src), partition0, 0))
}
