package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// LogPlace is where a log is kept, empty at first.
type LogPlace struct {
	Open    func(t testing.TB) eventlog.Log
	Durable bool // events outlive the log: it may be closed and opened again
	// Grow adds a partition to the log while it is open; nil where it cannot have another.
	Grow func(t testing.TB, l eventlog.Log)
}

// RunLog tests logs as sources, and what is promised of appending to them.
func RunLog(t *testing.T, newPlace func(t *testing.T) LogPlace) {
	Run(t, func(t *testing.T) Place { return asPlace(newPlace(t)) })
	cases := []struct {
		promise string
		test    func(t *testing.T, l eventlog.Log)
	}{
		{"the answers of an append are aligned with its events", alignedPositions},
		{"an event that is sent again changes nothing", duplicates},
		{"an event without a time gets one, and can be sent again", timeless},
		{"an event of other content is a conflict", conflicts},
		{"a batch is appended whole or not at all", atomicBatch},
		{"what no log can keep is refused", incomplete},
		{"many append at once", concurrentAppends},
		{"events belong to the log once they are appended", ownership},
	}
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			l := newPlace(t).Open(t)
			t.Cleanup(func() {
				if err := l.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			c.test(t, l)
		})
	}
}

// asPlace appends to the log that is open, or opens it for that.
func asPlace(p LogPlace) Place {
	var current eventlog.Log
	closed := func() bool {
		if current == nil {
			return true
		}
		_, err := current.Partitions(context.Background())
		return errors.Is(err, eventlog.ErrClosed)
	}
	open := func(t testing.TB) eventlog.Source {
		if closed() {
			current = p.Open(t)
		}
		return current
	}
	add := func(t testing.TB, events []eventlog.Event) {
		open(t)
		mustAppend(t, current, events)
	}
	at := Place{Add: add, Open: open, Tails: true, Durable: p.Durable}
	if p.Grow != nil {
		at.Grow = func(t testing.TB, events []eventlog.Event) {
			p.Grow(t, current)
			mustAppend(t, current, events)
		}
	}
	return at
}

func mustAppend(t testing.TB, l eventlog.Log, events []eventlog.Event) []eventlog.AppendResult {
	t.Helper()
	at, err := l.Append(t.Context(), events)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	if len(at) != len(events) {
		t.Fatalf("Append of %d events answers %d positions", len(events), len(at))
	}
	return at
}

func alignedPositions(t *testing.T, l eventlog.Log) {
	events := Events(50)
	for i, a := range mustAppend(t, l, events) {
		got, err := l.Read(t.Context(), a.Partition, a.Offset-1, 1)
		if err != nil || len(got) != 1 {
			t.Fatalf("read the event at %+v: %d events, error %v", a, len(got), err)
		}
		want := events[i]
		want.Partition, want.Offset = a.Partition, a.Offset
		if d := diff(want, got[0]); d != "" || a.Duplicate {
			t.Fatalf("event %d at %+v (-want +got):\n%s", i, a, d)
		}
	}
	if at := mustAppend(t, l, nil); len(at) != 0 {
		t.Errorf("an empty batch has positions: %v", at)
	}
}

func duplicates(t *testing.T, l eventlog.Log) {
	events := Events(10)
	first := mustAppend(t, l, events)
	again := events[:5:5]
	again[0].Data = append([]byte(" "), append(again[0].Data, '\n')...) // the same value, written otherwise
	again = append(again, more(1)...)
	again = append(again, more(1)...) // twice in one batch
	at := mustAppend(t, l, again)
	for i := range 5 {
		want := first[i]
		want.Duplicate = true
		if at[i] != want {
			t.Errorf("event %d sent again: %+v, want %+v", i, at[i], want)
		}
	}
	if at[5].Duplicate || !at[6].Duplicate || at[5].Offset != at[6].Offset {
		t.Errorf("an event twice in a batch: %+v, then %+v", at[5], at[6])
	}
	sameEvents(t, append(Events(10), more(1)...), readAll(t, l, 100))
}

func timeless(t *testing.T, l eventlog.Log) {
	e := Events(1)
	e[0].Time = time.Time{}
	first := mustAppend(t, l, e)
	stored := readAll(t, l, 10)
	if len(stored) != 1 || stored[0].Time.IsZero() || stored[0].Time.Location() != time.UTC {
		t.Fatalf("stored: %+v", stored)
	}
	if at := mustAppend(t, l, e); !at[0].Duplicate || at[0].Offset != first[0].Offset {
		t.Errorf("sent again: %+v", at)
	}
	if !e[0].Time.IsZero() {
		t.Error("Append changed the caller's event")
	}
}

func conflicts(t *testing.T, l eventlog.Log) {
	mustAppend(t, l, Events(3))
	changes := map[string]func(e *eventlog.Event){
		"type":         func(e *eventlog.Event) { e.Type = "Other" },
		"subject":      func(e *eventlog.Event) { e.Subject = "" },
		"time":         func(e *eventlog.Event) { e.Time = e.Time.Add(1) },
		"partitionkey": func(e *eventlog.Event) { e.PartitionKey += "x" },
		"dataschema":   func(e *eventlog.Event) { e.DataSchema += "x" },
		"extensions":   func(e *eventlog.Event) { e.Extensions = map[string]string{"other": "x"} },
		"data":         func(e *eventlog.Event) { e.Data = []byte(`{"n":7}`) },
	}
	for name, change := range changes {
		e := Events(3)[1]
		change(&e)
		batch := append(more(2), e)
		_, err := l.Append(t.Context(), batch)
		var conflict *eventlog.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, eventlog.ErrConflict) {
			t.Fatalf("another %s: %v", name, err)
		}
		if conflict.Index != 2 || conflict.ID != e.ID || conflict.Source != e.Source {
			t.Errorf("another %s: the conflict names %+v", name, conflict)
		}
	}
	sameEvents(t, Events(3), readAll(t, l, 100))
}

func atomicBatch(t *testing.T, l eventlog.Log) {
	mustAppend(t, l, Events(3))
	batch := more(4)
	twisted := batch[0]
	twisted.Data = []byte(`{"n":-1}`)
	if _, err := l.Append(t.Context(), append(batch, twisted)); !errors.Is(err, eventlog.ErrConflict) {
		t.Fatalf("a batch that contradicts itself: %v", err)
	}
	sameEvents(t, Events(3), readAll(t, l, 100))
	mustAppend(t, l, batch)
	sameEvents(t, append(Events(3), batch...), readAll(t, l, 100))
}

func incomplete(t *testing.T, l eventlog.Log) {
	for name, change := range map[string]func(e *eventlog.Event){
		"without id":     func(e *eventlog.Event) { e.ID = "" },
		"without source": func(e *eventlog.Event) { e.Source = "" },
		"without type":   func(e *eventlog.Event) { e.Type = "" },
		"malformed":      func(e *eventlog.Event) { e.Malformed = errors.New("bad") },
	} {
		events := Events(2)
		change(&events[1])
		if _, err := l.Append(t.Context(), events); err == nil {
			t.Errorf("an event %s was appended", name)
		}
	}
	if got := readAll(t, l, 10); len(got) > 0 {
		t.Errorf("%d events are there", len(got))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ended, Events(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with an ended context: %v", err)
	}
}

func concurrentAppends(t *testing.T, l eventlog.Log) {
	const writers, each = 16, 20
	var all []eventlog.Event
	var work sync.WaitGroup
	for w := range writers {
		events := Events(each)
		for i := range events {
			events[i].ID = fmt.Sprintf("w%d-%d", w/2, i) // two writers send the same events
			events[i].Subject = fmt.Sprintf("writer-%d", w/2)
			events[i].PartitionKey = ""
		}
		if w%2 == 0 {
			all = append(all, events...)
		}
		work.Go(func() {
			for i := range events {
				at, err := l.Append(t.Context(), events[i:i+1])
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				got, err := l.Read(t.Context(), at[0].Partition, at[0].Offset-1, 1)
				if err != nil || len(got) != 1 || got[0].ID != events[i].ID {
					t.Errorf("what was answered at %+v is not there: %v, error %v", at[0], got, err)
				}
			}
		})
	}
	work.Wait()
	sameEvents(t, all, readAll(t, l, 100))
}

func ownership(t *testing.T, l eventlog.Log) {
	events := Events(20)
	mustAppend(t, l, events)
	for i := range events {
		clear(events[i].Data)
		clear(events[i].Extensions)
	}
	for _, e := range readAll(t, l, 100) {
		if bytes.IndexByte(e.Data, 0) >= 0 {
			t.Fatalf("event %s changed with the caller's memory", e.ID)
		}
	}
	sameEvents(t, Events(20), readAll(t, l, 100))
	if _, err := l.Append(t.Context(), Events(20)); err != nil {
		t.Errorf("send the events again: %v", err)
	}
}
