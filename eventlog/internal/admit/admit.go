// Package admit decides what becomes of each event of a batch that is to be appended to a log: the part of Append that
// does not depend on where the events are kept.
package admit

import (
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// Known is an event that the log has: where it stands, and the event.
type Known struct {
	At    eventlog.AppendResult
	Event *eventlog.Event
}

// Store is what Batch asks of a log.
type Store struct {
	// Find returns the event of that source and id, nil where there is none.
	Find func(source, id string) (*Known, error)
	// Place gives a new event its place.
	Place func(e *eventlog.Event) eventlog.AppendResult
	// Now is the time of events that come without one.
	Now time.Time
}

// Batch returns where each event of the batch stands, and those that are new, in order, with time and place set. The
// events themselves are not changed. A log that gets an error must take none of them.
func Batch(events []eventlog.Event, s Store) (at []eventlog.AppendResult, fresh []eventlog.Event, err error) {
	type identity struct{ source, id string }
	batch := make(map[identity]*Known, len(events))
	at = make([]eventlog.AppendResult, len(events))
	fresh = make([]eventlog.Event, 0, len(events))
	for i := range events {
		e := &events[i]
		if err := check(e); err != nil {
			return nil, nil, fmt.Errorf("append event %d (id %q): %w", i, e.ID, err)
		}
		who := identity{e.Source, e.ID}
		known := batch[who]
		if known == nil {
			if known, err = s.Find(e.Source, e.ID); err != nil {
				return nil, nil, fmt.Errorf("append event %d (id %q): look it up: %w", i, e.ID, err)
			}
		}
		if known != nil {
			if !eventlog.SameContent(e, known.Event) {
				return nil, nil, &eventlog.ConflictError{Index: i, Source: e.Source, ID: e.ID}
			}
			at[i] = known.At
			at[i].Duplicate = true
			continue
		}
		at[i] = s.Place(e)
		fresh = append(fresh, placed(e, at[i], s.Now))
		batch[who] = &Known{At: at[i], Event: e}
	}
	return at, fresh, nil
}

// placed is the event as the log keeps it.
func placed(e *eventlog.Event, at eventlog.AppendResult, now time.Time) eventlog.Event {
	p := *e
	p.Partition, p.Offset = at.Partition, at.Offset
	if p.Time.IsZero() {
		p.Time = now
	}
	p.Time = p.Time.UTC().Round(0) // without the reading of a clock that only this process has
	return p
}

var errNoIdentity = errors.New("id, source and type must not be empty")

// check refuses what no log can keep.
func check(e *eventlog.Event) error {
	if e.Malformed != nil {
		return fmt.Errorf("malformed: %w", e.Malformed)
	}
	if e.ID == "" || e.Source == "" || e.Type == "" {
		return errNoIdentity
	}
	return nil
}
