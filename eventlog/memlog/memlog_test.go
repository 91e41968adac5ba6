package memlog_test

import (
	"errors"
	"io"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func TestLogKeepsThePromisesOfALog(t *testing.T) {
	for _, partitions := range []int{1, 5} {
		sourcetest.RunLog(t, func(*testing.T) sourcetest.LogPlace {
			return sourcetest.LogPlace{
				Open: func(testing.TB) eventlog.Log { return memlog.New(memlog.Options{Partitions: partitions}) },
				Grow: func(_ testing.TB, l eventlog.Log) { l.(*memlog.Log).AddPartition() },
			}
		})
	}
}

func TestEventsOfOneKeyShareAPartition(t *testing.T) {
	l := memlog.New(memlog.Options{Partitions: 8})
	used := map[string]bool{}
	of := map[string]string{}
	events := sourcetest.Events(200)
	at, err := l.Append(t.Context(), events)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range at {
		key := events[i].PartitionKey + "|" + events[i].Subject
		if events[i].PartitionKey != "" {
			key = events[i].PartitionKey
		}
		if p, ok := of[key]; ok && p != a.Partition {
			t.Errorf("events of %q are in partitions %s and %s", key, p, a.Partition)
		}
		of[key], used[a.Partition] = a.Partition, true
	}
	if len(used) < 3 {
		t.Errorf("only partitions %v are used", used)
	}
}

func TestEndIsSeenByThoseWhoHaveEverything(t *testing.T) {
	l := memlog.New(memlog.Options{})
	if _, err := l.Append(t.Context(), sourcetest.Events(2)); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error)
	go func() { answer <- l.Wait(t.Context(), eventlog.Offsets{"0": 2}) }()
	l.End()
	if err := <-answer; !errors.Is(err, io.EOF) {
		t.Errorf("Wait with everything read: %v", err)
	}
	if err := l.Wait(t.Context(), eventlog.Offsets{"0": 1}); err != nil {
		t.Errorf("Wait with an event left: %v", err)
	}
	if _, err := l.Append(t.Context(), sourcetest.Events(1)); err == nil {
		t.Error("a log that has ended took an event")
	}
}
