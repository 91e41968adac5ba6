package deadletter

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/position"
)

// Subject is what blocks events. Events of different partitions have no order, so it is of one partition.
type Subject struct{ Partition, Source, Name string }

// SubjectOf is that of the event.
func SubjectOf(e *eventlog.Event) Subject { return Subject{e.Partition, e.Source, e.Subject} }

// Index finds the dead letters of a projection by their places and subjects.
type Index struct {
	all    map[position.Ref]uint64 // the number of each, as Letter.Number
	held   map[Subject][]uint64    // offsets, ascending, of the events that have a subject
	failed map[string][]uint64     // by partition, the numbers of those that have one, ascending
	waiting
}

// NewIndex makes an index of no dead letters.
func NewIndex() *Index {
	return &Index{all: map[position.Ref]uint64{}, held: map[Subject][]uint64{}, failed: map[string][]uint64{},
		waiting: newWaiting()}
}

// First is the offset of the first dead letter of the subject; ok is false where there is none.
func (a *Index) First(s Subject) (offset uint64, ok bool) {
	if held := a.held[s]; s.Name != "" && len(held) > 0 {
		return held[0], true
	}
	return 0, false
}

// FirstBut is First among those that are not in gone.
func (a *Index) FirstBut(s Subject, gone map[position.Ref]bool) (offset uint64, ok bool) {
	if s.Name == "" {
		return 0, false
	}
	for _, offset := range a.held[s] {
		if !gone[position.Ref{Partition: s.Partition, Offset: offset}] {
			return offset, true
		}
	}
	return 0, false
}

// Has reports whether the event is a dead letter.
func (a *Index) Has(at position.Ref) bool {
	_, there := a.all[at]
	return there
}

// Add takes a dead letter in.
func (a *Index) Add(s Subject, offset, number uint64) {
	a.all[position.Ref{Partition: s.Partition, Offset: offset}] = number
	if number > 0 {
		failed := a.failed[s.Partition]
		i, _ := slices.BinarySearch(failed, number)
		a.failed[s.Partition] = slices.Insert(failed, i, number)
	}
	if s.Name == "" {
		return
	}
	held := a.held[s]
	if i, there := slices.BinarySearch(held, offset); !there {
		a.held[s] = slices.Insert(held, i, offset)
	}
}

// Remove takes one out, which has been retried or skipped.
func (a *Index) Remove(s Subject, offset uint64) {
	at := position.Ref{Partition: s.Partition, Offset: offset}
	failed := a.failed[s.Partition]
	if i, there := slices.BinarySearch(failed, a.all[at]); there {
		a.failed[s.Partition] = slices.Delete(failed, i, i+1)
	}
	delete(a.all, at)
	a.stop(at)
	held := a.held[s]
	i, there := slices.BinarySearch(held, offset)
	if !there {
		return
	}
	if a.held[s] = slices.Delete(held, i, i+1); len(a.held[s]) == 0 {
		delete(a.held, s)
	}
}

// Len is how many dead letters there are.
func (a *Index) Len() int { return len(a.all) }

// Number is that of the event, as Letter.Number.
func (a *Index) Number(at position.Ref) uint64 { return a.all[at] }

// WakeLeftBehind has events retried that were blocked by one which is a dead letter no more: it was retried or skipped,
// and the process has ended before it came to them. They are those of which the first of its subject is blocked, and
// come before others that have been woken meanwhile, as they would have.
func (a *Index) WakeLeftBehind(blocked map[position.Ref]bool) {
	for s, held := range a.held {
		if at := (position.Ref{Partition: s.Partition, Offset: held[0]}); blocked[at] {
			a.first = insert(a.first, at)
		}
	}
}

// Released returns the offsets of the event and of those that it blocks, which are retried with it.
func (a *Index) Released(at position.Ref, l *Letter, skip bool) ([]uint64, error) {
	s := Subject{at.Partition, l.Source, l.Subject}
	first, held := a.First(s)
	switch {
	case !held:
		return []uint64{at.Offset}, nil
	case first == at.Offset:
		return slices.Clone(a.held[s]), nil
	case skip: // it is taken out of the middle; the others go on waiting
		return []uint64{at.Offset}, nil
	}
	return nil, fmt.Errorf("it waits for event %s of the same subject: retry or skip that first",
		position.Ref{Partition: at.Partition, Offset: first})
}
