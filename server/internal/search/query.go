// Package search finds events of a source by what they are about, a page at a time, and says where it has come to.
//
// Events come in the order of the log: that of the source within each of its partitions, and the partitions one after
// the other, by their names. A page is the work of one request: it ends after so many events, looked at or found, and
// the next one goes on from there.
package search

import (
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// Query says which events are searched for, and where. What is empty does not count.
type Query struct {
	Subject string    `json:"subject,omitempty"`
	Types   []string  `json:"types,omitempty"` // one of these
	Source  string    `json:"source,omitempty"`
	ID      string    `json:"id,omitempty"`
	After   time.Time `json:"after,omitzero"`  // at this time, or after it
	Before  time.Time `json:"before,omitzero"` // before this time

	// From holds the last offset of each partition that is not looked at any more.
	From eventlog.Offsets `json:"from,omitempty"`
	// UpTo holds the partitions that are looked at, and the last offset of each: where they end now, where it is nil.
	UpTo eventlog.Offsets `json:"upTo,omitempty"`
	// Limit is how many events are found at most: MostEvents where it is 0.
	Limit int `json:"limit,omitempty"`
}

// MostEvents is how many events a page has at most.
const MostEvents = 1000

// Matches reports whether the event is one that is searched for, wherever it stands. An event without a time is neither
// after nor before any.
func (q *Query) Matches(e *eventlog.Event) bool {
	return (q.Subject == "" || q.Subject == e.Subject) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
		(q.Source == "" || q.Source == e.Source) &&
		(q.ID == "" || q.ID == e.ID) &&
		q.inTime(e.Time)
}

func (q *Query) inTime(at time.Time) bool {
	if q.After.IsZero() && q.Before.IsZero() {
		return true
	}
	return !at.IsZero() && !at.Before(q.After) && (q.Before.IsZero() || at.Before(q.Before))
}
