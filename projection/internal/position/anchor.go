package position

import (
	"cmp"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// Anchor names an event by its place and by what it says, so that a source can be asked whether it is still there.
type Anchor struct {
	Offset uint64    `json:"offset"`
	Source string    `json:"source"`
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Hash   string    `json:"hash"`
	// MessageHash is that of the event: with it, an event is the same whatever mapping has made it.
	MessageHash string `json:"messageHash,omitempty"`
}

// AnchorOf is the anchor of an event that could be read, nil of one that is malformed: what is known of such an event
// hangs on how it was read.
func AnchorOf(e *eventlog.Event) *Anchor {
	if e == nil || e.Malformed != nil {
		return nil
	}
	return &Anchor{Offset: e.Offset, Source: e.Source, ID: e.ID, Time: e.Time, Hash: eventlog.ContentHash(e),
		MessageHash: e.MessageHash}
}

// Contradicts reports whether the event, which stands at the anchor's place, is another one.
func (a *Anchor) Contradicts(e *eventlog.Event) bool {
	if e.Malformed != nil {
		return false
	}
	if a.MessageHash != "" && a.MessageHash == e.MessageHash {
		return false
	}
	return a.Source != e.Source || a.ID != e.ID || a.Hash != "" && a.Hash != eventlog.ContentHash(e)
}

func (a *Anchor) String() string {
	if a == nil {
		return "an event that could not be read"
	}
	return fmt.Sprintf("event %.100q of %.100q, of %s", a.ID, a.Source, a.Time.UTC().Format(time.RFC3339))
}

// Furthest is the anchor of the event where that is further on and could be read, and else the anchor that there is.
func Furthest(a *Anchor, e *eventlog.Event) *Anchor {
	if e == nil || a != nil && e.Offset <= a.Offset {
		return a
	}
	return cmp.Or(AnchorOf(e), a)
}
