package sourcetest

import (
	"context"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// partitionAdded: what was read stays read, and no event of the new partition is missed.
func partitionAdded(t *testing.T, p Place) {
	if p.Grow == nil {
		return
	}
	s, _ := with(t, p, 20)
	names, at := partitions(t, s), positions(readAll(t, s, 100))
	if p.Tails {
		added := waiting(t, s, at)
		p.Grow(t, more(40))
		if err := <-added; err != nil {
			t.Errorf("Wait: %v", err)
		}
	} else {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		p.Grow(t, more(40))
		s = open(t, p)
	}
	now := partitions(t, s)
	if len(now) != len(names)+1 {
		t.Errorf("there were %d partitions, and are %d", len(names), len(now))
	}
	var fresh []eventlog.Event
	for _, name := range now {
		some, err := drain(t.Context(), s, name, at[name], 7)
		if err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, some...)
	}
	sameEvents(t, more(40), fresh)
}

// partitionGone: a reader gets all that it would have got of the partition, or an error.
func partitionGone(t *testing.T, p Place) {
	if p.Remove == nil {
		return
	}
	s, events := with(t, p, 40)
	if got := readAll(t, s, 100); len(got) != len(events) {
		t.Fatalf("%d events of %d", len(got), len(events))
	}
	p.Remove(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	names, err := s.Partitions(ctx)
	var got []eventlog.Event
	for i := 0; err == nil && i < len(names); i++ {
		var some []eventlog.Event
		some, err = drain(ctx, s, names[i], 0, 7)
		got = append(got, some...)
	}
	if err == nil && len(got) < len(events) {
		t.Errorf("of %d events, %d are left, and there is no error", len(events), len(got))
	}
	if ctx.Err() != nil {
		t.Errorf("the source does not answer: %v", err)
	}
}
