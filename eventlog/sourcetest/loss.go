package sourcetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// one is the only partition of the source.
func one(t testing.TB, s eventlog.Source) string {
	t.Helper()
	names := partitions(t, s)
	if len(names) != 1 {
		t.Fatalf("there are %d partitions; what is deleted and forgotten is tested with one", len(names))
	}
	return names[0]
}

// reach reads as a projection does, until neither an event nor an empty place follows.
func reach(t testing.TB, s eventlog.Source, name string, at uint64) (events []eventlog.Event, end uint64) {
	t.Helper()
	for {
		some, err := s.Read(t.Context(), name, at, 7)
		if err != nil {
			t.Fatalf("Read after %d: %v", at, err)
		}
		events = append(events, some...)
		if len(some) > 0 {
			at = some[len(some)-1].Offset
			continue
		}
		through, err := eventlog.EmptyThrough(t.Context(), s, name, at)
		if err != nil || through < at {
			t.Fatalf("EmptyThrough(%d) = %d, %v", at, through, err)
		}
		if through == at {
			return events, at
		}
		at = through
	}
}

func gaps(t *testing.T, p Place) {
	if p.Delete == nil {
		return
	}
	s, events := with(t, p, 60)
	name := one(t, s)
	all, err := drain(t.Context(), s, name, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	gone := map[int]bool{10: true, 11: true, 40: true, 58: true, 59: true}
	for i := range gone {
		p.Delete(t, all[i].Offset)
	}
	var want []eventlog.Event
	for i := range events {
		if !gone[i] {
			want = append(want, events[i])
		}
	}
	got, end := reach(t, s, name, 0)
	sameEvents(t, want, got)
	head, err := s.Head(t.Context(), name)
	if err != nil || end != head || end != all[59].Offset {
		t.Errorf("a reader comes to %d, and the head is %d (%v); the last offset was %d", end, head, err, all[59].Offset)
	}
	if at, err := eventlog.EmptyThrough(t.Context(), s, name, all[9].Offset); err != nil || at != all[11].Offset {
		t.Errorf("empty through %d, %v; want %d", at, err, all[11].Offset)
	}
	if at, err := eventlog.EmptyThrough(t.Context(), s, name, all[0].Offset); err != nil || at != all[0].Offset {
		t.Errorf("where an event follows, it is empty through %d, %v", at, err)
	}
	p.Add(t, more(3))
	got, _ = reach(t, s, name, end)
	sameEvents(t, more(3), got)
}

func forgotten(t *testing.T, p Place) {
	if p.Forget == nil {
		return
	}
	s, events := with(t, p, 60)
	name := one(t, s)
	all, err := drain(t.Context(), s, name, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := s.Read(t.Context(), name, 0, 5) // a reader that has only just begun
	if err != nil || len(ahead) == 0 {
		t.Fatalf("%d events, %v", len(ahead), err)
	}
	p.Forget(t, all[29].Offset)
	for _, after := range []uint64{0, ahead[len(ahead)-1].Offset, all[28].Offset} {
		lost := eventlog.ForgottenIn(passed(t, s, name, after))
		if lost == nil || lost.Partition != name || lost.After != after || lost.First != all[30].Offset {
			t.Errorf("after %d: %+v", after, lost)
		}
	}
	rest, _ := reach(t, s, name, all[29].Offset)
	sameEvents(t, events[30:], rest)
	p.Forget(t, all[59].Offset)
	if rest, end := reach(t, s, name, all[59].Offset); len(rest) > 0 || end != all[59].Offset {
		t.Errorf("after what is all forgotten: %d events, up to %d", len(rest), end)
	}
	if lost := eventlog.ForgottenIn(passed(t, s, name, all[40].Offset)); lost == nil {
		t.Error("a source that has forgotten all passes over what was needed")
	}
	p.Add(t, more(3))
	rest, _ = reach(t, s, name, all[59].Offset)
	sameEvents(t, more(3), rest)
}

// passed is the error of a read that is to have one: what was read ahead of the loss may come before it.
func passed(t testing.TB, s eventlog.Source, name string, after uint64) error {
	t.Helper()
	events, err := s.Read(t.Context(), name, after, 100)
	for i, e := range events {
		if e.Offset != after+uint64(i)+1 {
			t.Fatalf("after %d came %d: what is between is lost", after, e.Offset)
		}
	}
	if err == nil {
		_, err = eventlog.EmptyThrough(t.Context(), s, name, after)
	}
	return err
}

func recreatedWhileOpen(t *testing.T, p Place) {
	if p.Recreate == nil {
		return
	}
	s, _ := with(t, p, 20)
	name := one(t, s)
	all, err := drain(t.Context(), s, name, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	was := incarnation(t, s, name)
	p.Recreate(t)
	p.Add(t, more(40))
	if is := incarnation(t, s, name); is == was || is == "" {
		t.Errorf("the incarnation was %q, and is %q", was, is)
	}
	for _, after := range []uint64{0, all[5].Offset, all[19].Offset} {
		events, err := s.Read(t.Context(), name, after, 100)
		if !eventlog.Replaced(err) {
			t.Errorf("after %d of the former: %d events, %v", after, len(events), err)
		}
	}
}

func recreatedWhileClosed(t *testing.T, p Place) {
	if p.Recreate == nil {
		return
	}
	p.Add(t, Events(20))
	s := p.Open(t)
	was := incarnation(t, s, one(t, s))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = p.Open(t)
	if is := incarnation(t, s, one(t, s)); is != was {
		t.Errorf("opened again: the incarnation was %q, and is %q", was, is)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.Recreate(t)
	p.Add(t, more(30))
	s = open(t, p)
	if is := incarnation(t, s, one(t, s)); is == was || is == "" {
		t.Errorf("made anew: the incarnation was %q, and is %q", was, is)
	}
	sameEvents(t, more(30), readAll(t, s, 100))
}

func incarnation(t testing.TB, s eventlog.Source, name string) string {
	t.Helper()
	i, err := eventlog.IncarnationOf(t.Context(), s, name)
	if err != nil {
		t.Fatalf("Incarnation: %v", err)
	}
	return i
}

func sameTwice(t *testing.T, p Place) {
	if p.Delete == nil { // only a source that is no log of ours takes an event twice
		return
	}
	twice := append(Events(3), Events(3)...)
	p.Add(t, twice)
	sameEvents(t, twice, readAll(t, open(t, p), 2))
}

func unreachable(t *testing.T, p Place) {
	if p.Leave == nil {
		return
	}
	s, events := with(t, p, 30)
	name := one(t, s)
	first, err := s.Read(t.Context(), name, 0, 10)
	if err != nil || len(first) == 0 {
		t.Fatalf("%d events, %v", len(first), err)
	}
	at := first[len(first)-1].Offset
	waits := waiting(t, s, eventlog.Offsets{name: 1 << 60})
	p.Leave(t)
	if err := <-waits; err == nil {
		t.Error("who waits for a source that cannot be reached is told of events")
	}
	if some, err := s.Read(t.Context(), name, at, 10); err == nil && len(some) == 0 {
		t.Error("a source that cannot be reached says that nothing follows")
	}
	p.Return(t)
	p.Add(t, more(5))
	var rest []eventlog.Event
	for until := time.Now().Add(patience); len(rest) < len(events)+5-len(first); {
		some, err := s.Read(t.Context(), name, at, 10)
		if err == nil && len(some) == 0 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err = s.Wait(ctx, eventlog.Offsets{name: at})
			cancel()
		}
		if time.Now().After(until) || errors.Is(err, eventlog.ErrClosed) {
			t.Fatalf("it has come back, and %d events of it: %v", len(rest), err)
		}
		if len(some) > 0 {
			rest, at = append(rest, some...), some[len(some)-1].Offset
		}
	}
	sameEvents(t, append(events, more(5)...), append(first[:len(first):len(first)], rest...))
}
