package checkpoint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// answerer is a process that reads what another folds.
type answerer struct {
	*program
	nobody
	*memstore.MultiWriter
	follower checkpoint.Follower
	now      time.Time
	offset   uint64 // of the rows

	read     int // dead letters
	told     int // offsets
	readThen int // before offsets were first told, in a look
	letters  int // that were told last
}

func newAnswerer(t *testing.T) *answerer {
	t.Helper()
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	a := &answerer{program: newProgram(t, store, log, "1"), MultiWriter: store.Join(memstore.Options{}), now: time.Now()}
	a.open(a.db)
	db, err := querydb.Open(t.Context(), a, a.p.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a.cfg.Now = func() time.Time { return a.now }
	a.follower.State = checkpoint.NewState(a.p, log, db, a.cfg, a)
	return a
}

func (a *answerer) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	page, err := a.MultiWriter.Query(ctx, q)
	if strings.HasPrefix(q.PK, "deadletter:") {
		a.read += len(page.Rows)
	}
	return page, err
}

// Opened is of a checkpoint.Watch.
func (a *answerer) Opened(_ map[string]checkpoint.Checkpoint, letters int, _ *cascade.Tasks) {
	if a.told++; a.told == 1 {
		a.readThen = a.read
	}
	a.letters = letters
}

// folds has the other process come to the next event, and make so many dead letters.
func (a *answerer) folds(letters int) {
	a.Helper()
	a.offset++
	notes := []querydb.Note{{Kind: "checkpoint:Note.g0:notes", ID: "0", Value: fmt.Appendf(nil, `{"offset":%d}`, a.offset)}}
	for i := range letters {
		notes = append(notes, querydb.Note{Kind: "deadletter:Note.g0:notes", ID: fmt.Sprintf("%d@%d", i, a.offset),
			Value: []byte("{}")})
	}
	for len(notes) > 0 {
		n := min(len(notes), 100)
		if err := a.db.Apply(a.Context(), querydb.Batch{Notes: notes[:n]}); err != nil {
			a.Fatal(err)
		}
		notes = notes[n:]
	}
}

// looks has it look once, and tells how many dead letters it has read: before it said how far the others are, and in
// all.
func (a *answerer) looks() (before, all int) {
	a.Helper()
	a.read, a.told = 0, 0
	if err := a.follower.Look(a.Context()); err != nil {
		a.Fatal(err)
	}
	return a.readThen, a.read
}

// TestAFollowerTellsHowFarOthersAreBeforeItCountsTheirDeadLetters, since queries wait for that; and each is read for a
// count, so that there are few counts however often it looks.
func TestAFollowerTellsHowFarOthersAreBeforeItCountsTheirDeadLetters(t *testing.T) {
	const letters = 2500
	a := newAnswerer(t)
	a.folds(letters)
	total := 0
	for looks := range 1000 {
		before, all := a.looks()
		if before > 1 || all > 1+1000 {
			t.Fatalf("look %d reads %d dead letters before it tells anything, and %d in all", looks, before, all)
		}
		if total += all; looks == 2 && a.letters != letters {
			t.Errorf("it says that there are %d dead letters, want %d", a.letters, letters)
		}
		a.now = a.now.Add(500 * time.Millisecond)
		a.folds(0)
	}
	if most := 1000 + 13*letters; total > most { // at 0, 5, 15, 35, 75, …, and 495 s
		t.Errorf("within 500 s it reads %d dead letters, want %d at most", total, most)
	}
}

// TestAFollowerKnowsOfDeadLettersAsSoonAsOfTheirPositions: an answer from there says that it lacks events. It ceases to
// when there are none.
func TestAFollowerKnowsOfDeadLettersAsSoonAsOfTheirPositions(t *testing.T) {
	a := newAnswerer(t)
	for round := range 2 {
		a.folds(0)
		if a.looks(); a.letters != 0 {
			t.Errorf("round %d: without any, it says that there are %d dead letters", round, a.letters)
		}
		a.folds(1)
		if a.looks(); a.letters != 1 {
			t.Errorf("round %d: of the first, it says that there are %d dead letters", round, a.letters)
		}
		gone := querydb.Note{Kind: "deadletter:Note.g0:notes", ID: fmt.Sprintf("0@%d", a.offset)}
		if err := a.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{gone}}); err != nil {
			t.Fatal(err)
		}
	}
}
