package projection_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// leftLetters is how many dead letters a rebuild has left: see interruptedRebuild.
const leftLetters = 30

// leftovers is a store whose rebuild leaves notes about the rows that it replaces.
type leftovers struct {
	*setting
	log    *memlog.Log
	former string // kind of the dead letters of those rows
	first  server
}

// requestedRebuild is one that the next start does.
func requestedRebuild(t *testing.T) leftovers {
	t.Helper()
	s := newSetting(t)
	var events []eventlog.Event
	for i := range leftLetters {
		events = append(events, event(fmt.Sprint(i), needs("a", 1)))
	}
	l := leftovers{setting: s, log: logOf(t, events...), former: "deadletter:" + s.ops.Codec.Model.Table + ".g0:script"}
	l.first = s.fold(l.log, 100)
	if err := projection.RequestRebuild(t.Context(), l.first.db, ProjectionOf("script", s.ops)); err != nil {
		t.Fatal(err)
	}
	return l
}

// interruptedRebuild is one that could not drop the notes.
func interruptedRebuild(t *testing.T) leftovers {
	t.Helper()
	l := requestedRebuild(t)
	srv := l.server(l.log, 100, l.dropping(func() error { return driver.ErrUnavailable }))
	l.run(srv)
	srv.db.Close() // ends what drops them
	if n := l.count(l.former); n != leftLetters {
		t.Fatalf("%d notes are left after the rebuild, want all %d", n, leftLetters)
	}
	return l
}

// dropping calls f before each commit that deletes one of the dead letters.
func (l *leftovers) dropping(f func() error) memstore.Options {
	return memstore.Options{Before: func(c memstore.Commit) error {
		if slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == l.former }) {
			return f()
		}
		return nil
	}}
}

func (l *leftovers) count(kind string) int {
	l.t.Helper()
	notes, err := l.first.db.Notes().List(l.t.Context(), kind, "", 1000)
	if err != nil {
		l.t.Fatal(err)
	}
	return len(notes)
}

// wantDropped waits until they are dropped, and what says that they are to be.
func (l *leftovers) wantDropped() {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); l.count(l.former)+l.count("leftover") > 0; runtime.Gosched() {
		if time.Now().After(end) {
			l.t.Fatalf("%d notes are left after the next start, and %d that say so", l.count(l.former), l.count("leftover"))
		}
	}
}

// TestNotesThatARebuildCouldNotDropAreDroppedByTheNextStart: nobody else would ever look for them.
func TestNotesThatARebuildCouldNotDropAreDroppedByTheNextStart(t *testing.T) {
	l := interruptedRebuild(t)
	l.fold(l.log, 100)
	l.wantDropped()
	if got := deadLettersOf(t, l.first.Runner); len(got) != leftLetters {
		t.Errorf("there are %d dead letters, want %d", len(got), leftLetters)
	}
}

// TestNoProjectionWaitsForNotesThatARebuildLeaves, now or has left before: there may be millions of them.
func TestNoProjectionWaitsForNotesThatARebuildLeaves(t *testing.T) {
	for when, rebuild := range map[string]func(*testing.T) leftovers{
		"now": requestedRebuild, "before": interruptedRebuild,
	} {
		t.Run(when, func(t *testing.T) {
			l := rebuild(t)
			folded := make(chan struct{})
			srv := l.server(l.log, 100, l.dropping(func() error {
				select {
				case <-folded:
					return nil
				case <-time.After(time.Minute):
					return fmt.Errorf("%w: nothing is folded before notes are dropped", driver.ErrInvalid)
				}
			}))
			l.run(srv)
			close(folded)
			l.wantDropped()
		})
	}
}

// TestWhoFoldsNothingDropsNoNotes, as a server with --fold off, or a command that only looks.
func TestWhoFoldsNothingDropsNoNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := interruptedRebuild(t)
		srv := l.server(l.log, 100, l.dropping(func() error {
			t.Error("who has only opened the store deletes notes")
			return nil
		}))
		synctest.Wait()
		if n := l.count(l.former); n != leftLetters || srv.Runner == nil {
			t.Errorf("%d notes are left, want all %d", n, leftLetters)
		}
	})
}
