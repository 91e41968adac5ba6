package server

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/server/internal/sources"
)

func TestSourceAsItStoodEndsWhereItEnded(t *testing.T) {
	log := memlog.New(memlog.Options{})
	add := func(first, n int) {
		if _, err := log.Append(t.Context(), slices.Collect(taskEvents(first, n))); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 5)
	ends, err := sources.Heads(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	add(6, 5)
	src := &sources.UpTo{Source: log, Ends: ends}
	for _, tc := range []struct {
		after uint64
		most  int
		want  int
	}{{0, 100, 5}, {0, 3, 3}, {3, 100, 2}, {5, 100, 0}, {8, 100, 0}} {
		events, err := src.Read(t.Context(), "0", tc.after, tc.most)
		if err != nil || len(events) != tc.want {
			t.Errorf("after %d, at most %d: %d events (%v), want %d", tc.after, tc.most, len(events), err, tc.want)
		}
	}
	if err := src.Wait(t.Context(), eventlog.Offsets{"0": 4}); err != nil {
		t.Errorf("wait before the end: %v", err)
	}
	if err := src.Wait(t.Context(), eventlog.Offsets{"0": 5}); !errors.Is(err, io.EOF) {
		t.Errorf("wait at the end: %v, want io.EOF", err)
	}
	if head, err := src.Head(t.Context(), "0"); head != 5 || err != nil {
		t.Errorf("head %d (%v), want 5", head, err)
	}
}
