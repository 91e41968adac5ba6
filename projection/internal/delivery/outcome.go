package delivery

import (
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// outcome is what becomes of the items of one commit beside rows. It is true once the commit has succeeded.
type outcome struct {
	projection string
	generation int
	fold       *fold.Fold // that of the evaluator, unless that has given this commit up
	partition  string
	slot       string // of the partition: see position.SlotOf
	was        checkpoint.Checkpoint
	kind       string                      // of the notes of dead letters
	released   bool                        // the items were dead letters
	settles    bool                        // as batch.settles
	tells      bool                        // as batch.tells
	others     checkpoint.OtherGenerations // where something may be decided
	end        position.Cursor
	last       *eventlog.Event // as batch.last
	watermark  time.Time       // as batch.watermark
	rows       int             // items that went into rows
	tried      uint64          // as Checkpoint.Tried
	failed     []uint64        // numbers of the dead letters that are made here
	// failing has the first event that failed here, by subject.
	failing     map[deadletter.Subject]failure
	letters     []newLetter
	resolved    []*eventlog.Event     // dead letters no more
	gone        map[position.Ref]bool // the same
	decisions   []deadletter.Decision
	waiting     []waitingLetter     // dead letters that wait for a row
	appeared    []deadletter.RowRef // rows that dead letters wait for
	postponed   []position.Ref      // dead letters that are retried when the rows are as far as some are already
	left        []position.Ref      // dead letters that are to be retried, whose predecessors have been
	tasks       []cascade.Task      // rows that their copies are to follow
	formerTasks []string            // IDs of those that earlier versions recorded for these rows
	notes       []querydb.Note
}

// failure is an event that failed, and blocks the later ones of its subject.
type failure struct {
	position.Ref
	number uint64 // as deadletter.Letter.Number
}

// newLetter is an event that becomes a dead letter.
type newLetter struct {
	event  *eventlog.Event
	reason string
	number uint64 // as deadletter.Letter.Number
	waits  bool   // for another event or for a row: it has not failed itself
}

// waitingLetter is a dead letter that waits for a row, or for none any more.
type waitingLetter struct {
	position.Ref
	missing *deadletter.MissingRow
}

// addLetter makes the item a dead letter, or gives that which it was its new reason.
func (out *outcome) addLetter(it *item, reason, behind string, number uint64, cause deadletter.Cause) {
	l, at := deadletter.Of(it.event, reason, behind, number, cause), position.RefOf(it.event)
	l.Tried = it.tried
	out.notes = append(out.notes, l.Note(out.kind, at))
	if cause.Missing != nil || it.letter {
		out.waiting = append(out.waiting, waitingLetter{at, cause.Missing})
	}
	if it.letter {
		return
	}
	out.letters = append(out.letters, newLetter{it.event, reason, number, behind != "" || cause.Missing != nil})
	if number > 0 {
		out.tried, out.failed = number, append(out.failed, number)
	}
}

// resolve takes the item from the dead letters: it is skipped, or takes effect where the projection stands.
func (out *outcome) resolve(it *item, skip bool) {
	switch {
	case !it.released || out.settles: // it is on record
	case skip:
		out.decide(out.skipping(it.event, it.anchor()))
	default:
		out.decide(out.decisionOn(it))
	}
	at := position.RefOf(it.event)
	out.resolved, out.gone[at] = append(out.resolved, it.event), true
	out.notes = append(out.notes, querydb.Note{Kind: out.kind, ID: at.ID()})
}

// hasLetterOf reports whether the item, or another event of its subject, becomes a dead letter here: what waits for the
// item is known when that is on record.
func (out *outcome) hasLetterOf(it *item) bool {
	s := deadletter.SubjectOf(it.event)
	return slices.ContainsFunc(out.letters, func(l newLetter) bool {
		return position.RefOf(l.event) == position.RefOf(it.event) || s.Name != "" && deadletter.SubjectOf(l.event) == s
	})
}

// skipping is the decision that an event never takes effect.
func (out *outcome) skipping(e *eventlog.Event, anchor *position.Anchor) deadletter.Decision {
	return deadletter.Decision{
		Ref: position.RefOf(e), Subject: e.Subject, Skip: true, Generation: out.generation, Beside: out.others.Numbers,
		Event: anchor,
	}
}

// decisionOn is that the item is tried at its place.
func (out *outcome) decisionOn(it *item) deadletter.Decision {
	d := out.skipping(it.event, it.anchor())
	d.Skip, d.Moment, d.Seq = false, it.at.Offset, it.at.Replayed-1
	if a := out.was.Anchor; a != nil && a.Offset == d.Moment {
		d.After = a
	}
	return d
}

// decide puts a decision on record.
func (out *outcome) decide(d deadletter.Decision) {
	out.decisions = append(out.decisions, d)
	out.notes = append(out.notes, d.Note(out.projection))
}

// checkpoint is what is on record when the outcome is.
func (out *outcome) checkpoint() checkpoint.Checkpoint {
	c := out.was
	c.Cursor, c.Tried, c.Watermark = out.end, out.tried, out.watermark
	c.Anchor = position.Furthest(c.Anchor, out.last)
	return c
}
