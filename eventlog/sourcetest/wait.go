package sourcetest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

func waitWithEvents(t *testing.T, p Place) {
	s, _ := with(t, p, 20)
	if err := await(t, s, eventlog.Offsets{}); err != nil {
		t.Errorf("from the beginning: %v", err)
	}
	all := readAll(t, s, 100)
	last := all[len(all)-1]
	before := positions(all)
	before[last.Partition] = last.Offset - 1
	if err := await(t, s, before); err != nil {
		t.Errorf("with one event left: %v", err)
	}
}

// await is Wait with an end.
func await(t *testing.T, s eventlog.Source, after eventlog.Offsets) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.Wait(ctx, after)
}

// waiting calls Wait in the background and returns what it answers.
func waiting(t *testing.T, s eventlog.Source, after eventlog.Offsets) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- await(t, s, after) }()
	return answer
}

func waitWakes(t *testing.T, p Place) {
	if !p.Tails {
		tailless(t, p)
		return
	}
	s, events := with(t, p, 20)
	for i := range 20 {
		answer := waiting(t, s, positions(readAll(t, s, 100)))
		next := more(20)[i : i+1]
		p.Add(t, next)
		if err := <-answer; err != nil {
			t.Fatalf("Wait: %v", err)
		}
		events = append(events, next...)
		sameEvents(t, events, readAll(t, s, 100))
	}
}

// tailless holds a source that ends to an answer at once, where others would wait.
func tailless(t *testing.T, p Place) {
	s, _ := with(t, p, 3)
	if err := await(t, s, positions(readAll(t, s, 100))); err != io.EOF {
		t.Errorf("Wait at the end: %v, want io.EOF", err)
	}
}

func waitCancelled(t *testing.T, p Place) {
	if !p.Tails {
		tailless(t, p)
		return
	}
	s, _ := with(t, p, 3)
	after := positions(readAll(t, s, 100))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx, after); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait while nothing came: %v, want that the time is over", err)
	}
}

func waitClosed(t *testing.T, p Place) {
	if !p.Tails {
		tailless(t, p)
		return
	}
	s, _ := with(t, p, 3)
	answer := waiting(t, s, positions(readAll(t, s, 100)))
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := <-answer; !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Wait during Close: %v", err)
	}
}

func endsWithEOF(t *testing.T, p Place) {
	if p.Tails {
		s, _ := with(t, p, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := s.Wait(ctx, positions(readAll(t, s, 100))); errors.Is(err, io.EOF) {
			t.Error("a source that tails said that it has ended")
		}
		return
	}
	for _, n := range []int{0, 1, 50} {
		s := p.Open(t)
		if n > 0 {
			s.Close()
			p.Add(t, Events(n))
			s = p.Open(t)
		}
		follow(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// follow reads as a consumer does, waiting between reads, until the source ends.
func follow(t *testing.T, s eventlog.Source) {
	t.Helper()
	at := eventlog.Offsets{}
	for rounds := 0; ; rounds++ {
		err := await(t, s, at)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("Wait: %v", err)
		}
		for _, name := range partitions(t, s) {
			events, err := s.Read(t.Context(), name, at[name], 3)
			if err != nil {
				t.Fatalf("Read: %v", err)
			}
			if len(events) > 0 {
				at[name] = events[len(events)-1].Offset
			}
		}
		if rounds > 1000 {
			t.Fatal("the source never ends")
		}
	}
	for name, after := range at {
		if rest, err := s.Read(t.Context(), name, after, 3); err != nil || len(rest) > 0 {
			t.Errorf("after the end: %d events, error %v", len(rest), err)
		}
	}
}
