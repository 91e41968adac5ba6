package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// with puts events into the place, and opens it for the time of the test.
func with(t *testing.T, p Place, n int) (eventlog.Source, []eventlog.Event) {
	t.Helper()
	events := Events(n)
	p.Add(t, events)
	return open(t, p), events
}

func open(t *testing.T, p Place) eventlog.Source {
	t.Helper()
	s := p.Open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func readsEverything(t *testing.T, p Place) {
	s, events := with(t, p, 200)
	for _, most := range []int{1, 7, 1000} {
		sameEvents(t, events, readAll(t, s, most))
	}
	if !p.Tails {
		return
	}
	p.Add(t, more(50))
	sameEvents(t, append(events, more(50)...), readAll(t, s, 11))
}

// more makes events that Events does not.
func more(n int) []eventlog.Event {
	events := Events(n)
	for i := range events {
		events[i].ID = "more-" + events[i].ID
	}
	return events
}

func readsAfterOffset(t *testing.T, p Place) {
	s, _ := with(t, p, 60)
	for _, name := range partitions(t, s) {
		all, err := drain(t.Context(), s, name, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range slices.Backward(all) { // backwards: a source that reads on cheaply must also go back
			rest, err := drain(t.Context(), s, name, e.Offset, 5)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(all[i+1:], append([]eventlog.Event{}, rest...)); d != "" {
				t.Fatalf("after offset %d of %q (-want +got):\n%s", e.Offset, name, d)
			}
		}
		if rest, err := s.Read(t.Context(), name, 1<<62, 5); err != nil || len(rest) > 0 {
			t.Errorf("far after the end: %d events, error %v", len(rest), err)
		}
	}
}

func respectsMax(t *testing.T, p Place) {
	s, _ := with(t, p, 60)
	for _, name := range partitions(t, s) {
		for most := range 8 {
			events, err := s.Read(t.Context(), name, 0, most)
			if err != nil || len(events) > most {
				t.Errorf("Read(%q, 0, %d): %d events, error %v", name, most, len(events), err)
			}
		}
	}
}

// concurrentReaders read what there was, and maybe some of what is added meanwhile.
func concurrentReaders(t *testing.T, p Place) {
	s, _ := with(t, p, 300)
	names := partitions(t, s)
	want := make([][]eventlog.Event, len(names))
	for i, name := range names {
		var err error
		if want[i], err = drain(t.Context(), s, name, 0, 1000); err != nil {
			t.Fatal(err)
		}
	}
	var readers sync.WaitGroup
	for most := 1; most <= 64; most *= 2 {
		readers.Go(func() {
			for i, name := range names {
				got, err := drain(t.Context(), s, name, 0, most)
				if err != nil {
					t.Error(err)
					return
				}
				if d := diff(want[i], got[:min(len(got), len(want[i]))]); d != "" && len(want[i]) > 0 {
					t.Errorf("reading %d at a time of %q (-want +got):\n%s", most, name, d)
				}
			}
		})
	}
	if p.Tails {
		p.Add(t, more(50))
	}
	readers.Wait()
}

func reopens(t *testing.T, p Place) {
	if !p.Durable {
		s, events := with(t, p, 10) // what does not last must at least not change while it does
		if d := diff(readAll(t, s, 3), readAll(t, s, len(events))); d != "" {
			t.Errorf("two readings differ:\n%s", d)
		}
		return
	}
	p.Add(t, Events(100))
	var first []eventlog.Event
	for i := range 3 {
		s := p.Open(t)
		got := readAll(t, s, 9)
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if i == 0 {
			first = got
		}
		if d := diff(first, got); d != "" {
			t.Fatalf("opened again (-first +now):\n%s", d)
		}
	}
	sameEvents(t, Events(100), first)
}

func refusals(t *testing.T, p Place) {
	s, _ := with(t, p, 3)
	if _, err := s.Read(t.Context(), "no such partition", 0, 1); err == nil {
		t.Error("a partition that does not exist was read")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range partitions(t, s) {
		if _, err := s.Read(ended, name, 0, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Read with an ended context: %v", err)
		}
	}
}

func head(t *testing.T, p Place) {
	s, _ := with(t, p, 40)
	for round := range 2 {
		for name, want := range positions(readAll(t, s, 100)) {
			got, err := s.Head(t.Context(), name)
			if err != nil || got != want {
				t.Errorf("round %d: Head(%q) = %d, %v; want %d", round, name, got, err, want)
			}
		}
		if p.Tails && round == 0 {
			p.Add(t, more(5))
		}
	}
	if _, err := s.Head(t.Context(), "no such partition"); err == nil {
		t.Error("a partition that does not exist has a head")
	}
}

func closed(t *testing.T, p Place) {
	s, _ := with(t, p, 3)
	names := partitions(t, s)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	_, err := s.Read(t.Context(), names[0], 0, 1)
	_, err2 := s.Partitions(t.Context())
	for what, err := range map[string]error{
		"Read": err, "Partitions": err2, "Wait": s.Wait(t.Context(), eventlog.Offsets{}),
	} {
		if !errors.Is(err, eventlog.ErrClosed) {
			t.Error(fmt.Errorf("%s after Close: %w", what, err))
		}
	}
}
