package projection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// DeadLetter is an event that a projection has set aside: it has had no effect, and nothing is lost.
type DeadLetter struct {
	// Ref names the event to Retry and Skip: its partition, "@", its offset.
	Ref     string    `json:"-"`
	ID      string    `json:"id"`
	Source  string    `json:"source"`
	Type    string    `json:"type"`
	Subject string    `json:"subject,omitempty"`
	Time    time.Time `json:"time"`
	// Reason is what went wrong.
	Reason string `json:"reason"`
	// Behind is the Ref of the event, of the same source and subject, that this one waits for; "" where this is the
	// one that failed.
	Behind string `json:"behind,omitempty"`
}

// maxReason bounds what is kept of a reason, in bytes.
const maxReason = 2048

// ref is where an event stands.
type ref struct {
	partition string
	offset    uint64
}

func refOf(e *eventlog.Event) ref { return ref{e.Partition, e.Offset} }

func (r ref) String() string { return r.partition + "@" + strconv.FormatUint(r.offset, 10) }

// id is the name of the event's notes; it sorts by partition, then offset.
func (r ref) id() string { return fmt.Sprintf("%s@%020d", r.partition, r.offset) }

// ErrInvalidRef is the answer to a Ref that is none.
var ErrInvalidRef = errors.New("want a partition, @ and an offset, as in 0@17")

// parseRef reads String and id.
func parseRef(s string) (ref, error) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if n, err := strconv.ParseUint(s[i+1:], 10, 64); err == nil && n > 0 {
			return ref{s[:i], n}, nil
		}
	}
	return ref{}, fmt.Errorf("event %q: %w", s, ErrInvalidRef)
}

// subject is what events are held back by. Events of different partitions have no order, so it is of one partition.
type subject struct{ partition, source, name string }

func subjectOf(e *eventlog.Event) subject { return subject{e.Partition, e.Source, e.Subject} }

// asides are the events that are aside.
type asides struct {
	all    map[ref]uint64       // the number of each, as deadLetter.Number
	held   map[subject][]uint64 // offsets, ascending, of the events that have a subject
	failed map[string][]uint64  // by partition, the numbers of those that have one, ascending
}

func newAsides() asides {
	return asides{all: map[ref]uint64{}, held: map[subject][]uint64{}, failed: map[string][]uint64{}}
}

// first is the offset of the first event of the subject that is aside; ok is false where there is none.
func (a *asides) first(s subject) (offset uint64, ok bool) {
	if held := a.held[s]; s.name != "" && len(held) > 0 {
		return held[0], true
	}
	return 0, false
}

func (a *asides) has(at ref) bool {
	_, there := a.all[at]
	return there
}

func (a *asides) add(s subject, offset, number uint64) {
	a.all[ref{s.partition, offset}] = number
	if number > 0 {
		failed := a.failed[s.partition]
		i, _ := slices.BinarySearch(failed, number)
		a.failed[s.partition] = slices.Insert(failed, i, number)
	}
	if s.name == "" {
		return
	}
	held := a.held[s]
	if i, there := slices.BinarySearch(held, offset); !there {
		a.held[s] = slices.Insert(held, i, offset)
	}
}

func (a *asides) remove(s subject, offset uint64) {
	at := ref{s.partition, offset}
	failed := a.failed[s.partition]
	if i, there := slices.BinarySearch(failed, a.all[at]); there {
		a.failed[s.partition] = slices.Delete(failed, i, i+1)
	}
	delete(a.all, at)
	held := a.held[s]
	i, there := slices.BinarySearch(held, offset)
	if !there {
		return
	}
	if a.held[s] = slices.Delete(held, i, i+1); len(a.held[s]) == 0 {
		delete(a.held, s)
	}
}

// letterNote is what is on record of an event set aside.
type letterNote struct {
	DeadLetter
	Hash string `json:"hash,omitempty"` // of the event: see eventlog.Hash; "" where it could not be read
	// Number says which event it was of those that the projection came to in the partition, from 1; 0 where it does not count:
	// see bound.go.
	Number uint64 `json:"number,omitempty"`
}

// anchor is that of the event, which stands there; nil where it could not be read.
func (d *letterNote) anchor(at ref) *anchor {
	if d.Hash == "" {
		return nil
	}
	return &anchor{Offset: at.offset, Source: d.Source, ID: d.ID, Time: d.Time, Hash: d.Hash}
}

// shortened is what is kept of a reason.
func shortened(reason string) string {
	if len(reason) > maxReason {
		return strings.ToValidUTF8(reason[:maxReason], "") + " …"
	}
	return reason
}

// asideNote is the note, of the kind, of an event set aside.
func asideNote(kind string, e *eventlog.Event, reason, behind string, number uint64) querydb.Note {
	d := letterNote{DeadLetter: DeadLetter{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, Time: e.Time, Reason: shortened(reason), Behind: behind,
	}, Number: number}
	if a := anchorOf(e); a != nil {
		d.Hash = a.Hash
	}
	return querydb.Note{Kind: kind, ID: refOf(e).id(), Value: encode(d)}
}

func parseAside(n querydb.Note) (letterNote, ref, error) {
	var a letterNote
	at, err := parseRef(n.ID)
	if err != nil {
		return a, at, err
	}
	if err := json.Unmarshal(n.Value, &a); err != nil {
		return a, at, err
	}
	a.Ref = at.String()
	return a, at, nil
}
