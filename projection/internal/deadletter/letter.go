// Package deadletter keeps the events that a projection could not fold, and those that are blocked by them: what is on
// record of each, which of them wait for which, what was decided about them, and how many there may be.
//
// An event becomes a dead letter in delivery/failedevents.go, and is retried or skipped in delivery/deadletters.go.
package deadletter

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
)

// Letter is what is on record of a dead letter. It has had no effect, and nothing is lost.
type Letter struct {
	ID      string    `json:"id"`
	Source  string    `json:"source"`
	Type    string    `json:"type"`
	Subject string    `json:"subject,omitempty"`
	Time    time.Time `json:"time"`
	// Reason is what went wrong.
	Reason string `json:"reason"`
	// BlockedBy names the event, of the same source and subject, that blocks this one; "" where this is the one that
	// failed.
	BlockedBy   string `json:"behind,omitempty"`
	Hash        string `json:"hash,omitempty"` // of the event: see eventlog.ContentHash; "" where it could not be read
	MessageHash string `json:"messageHash,omitempty"`
	// Tried is where a retry that is on record was made last, in vain: see Decision. It is nil where none was.
	Tried *position.Cursor `json:"tried,omitempty"`
	// Number says which event it was of those that the projection came to in the partition, from 1; 0 where it does
	// not count: see Limit.
	Number uint64 `json:"number,omitempty"`
	Cause
}

// Cause is the reason of a dead letter where programs can make something of it.
type Cause struct {
	// Missing is the row that the event waits for; nil where it has failed for another reason, or is blocked.
	Missing *MissingRow `json:"missing,omitempty"`
	// Overflow is an aggregate that is too large; nil where it has failed for another reason, or is blocked.
	Overflow *aggregate.OverflowError `json:"overflow,omitempty"`
	// TooManyFollow is a row that more copies follow than one commit holds; nil likewise.
	TooManyFollow *TooManyFollow `json:"tooManyFollow,omitempty"`
}

// TooManyFollow says of which model the row is, how much its commit would have with the copies that follow, how much
// one holds, and of what.
type TooManyFollow struct {
	Model string `json:"model"`
	Count int    `json:"count"`
	Limit int    `json:"limit"`
	Unit  string `json:"unit"`
}

// Anchor is that of the event, which stands there; nil where it could not be read.
func (l *Letter) Anchor(at position.Ref) *position.Anchor {
	if l.Hash == "" {
		return nil
	}
	return &position.Anchor{Offset: at.Offset, Source: l.Source, ID: l.ID, Time: l.Time, Hash: l.Hash,
		MessageHash: l.MessageHash}
}

// Event is the event that stands there, as far as that is on record: without its data and metadata.
func (l *Letter) Event(at position.Ref) *eventlog.Event {
	return &eventlog.Event{
		Partition: at.Partition, Offset: at.Offset, ID: l.ID, Source: l.Source, Type: l.Type, Subject: l.Subject,
		Time: l.Time,
	}
}

// maxReason bounds what is kept of a reason, in bytes.
const maxReason = 2048

// ShortReason is what is kept of a reason.
func ShortReason(reason string) string {
	if len(reason) > maxReason {
		return strings.ToValidUTF8(reason[:maxReason], "") + " …"
	}
	return reason
}

// Of makes the dead letter of an event.
func Of(e *eventlog.Event, reason, behind string, number uint64, cause Cause) Letter {
	l := Letter{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, Time: e.Time,
		Reason: ShortReason(reason), BlockedBy: behind, Number: number,
		Cause: cause,
	}
	if a := position.AnchorOf(e); a != nil {
		l.Hash, l.MessageHash = a.Hash, a.MessageHash
	}
	return l
}

// Note is the note, of the kind, of the dead letter of the event that stands there.
func (l *Letter) Note(kind string, at position.Ref) querydb.Note {
	return querydb.Note{Kind: kind, ID: at.ID(), Value: encode(l)}
}

// Parse reads a note of a dead letter.
func Parse(n querydb.Note) (l Letter, at position.Ref, err error) {
	if at, err = position.ParseRef(n.ID); err == nil {
		err = json.Unmarshal(n.Value, &l)
	}
	return l, at, err
}

// encode is the JSON of one of our own notes; they are made of strings, numbers and times within JSON's years.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic("projection: encode a dead letter: " + err.Error())
	}
	return b
}
