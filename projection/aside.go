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

// AsideEvent is an event that a projection has set aside: it has had no effect, and nothing is lost.
type AsideEvent struct {
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

// ErrRef is the answer to a Ref that is none.
var ErrRef = errors.New("want a partition, @ and an offset, as in 0@17")

// parseRef reads String and id.
func parseRef(s string) (ref, error) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if n, err := strconv.ParseUint(s[i+1:], 10, 64); err == nil && n > 0 {
			return ref{s[:i], n}, nil
		}
	}
	return ref{}, fmt.Errorf("event %q: %w", s, ErrRef)
}

// subject is what events are held back by. Events of different partitions have no order, so it is of one partition.
type subject struct{ partition, source, name string }

func subjectOf(e *eventlog.Event) subject { return subject{e.Partition, e.Source, e.Subject} }

// asides are the events that are aside.
type asides struct {
	all  map[ref]bool
	held map[subject][]uint64 // offsets, ascending, of the events that have a subject
}

func newAsides() asides {
	return asides{all: map[ref]bool{}, held: map[subject][]uint64{}}
}

// first is the offset of the first event of the subject that is aside; ok is false where there is none.
func (a *asides) first(s subject) (offset uint64, ok bool) {
	if held := a.held[s]; s.name != "" && len(held) > 0 {
		return held[0], true
	}
	return 0, false
}

func (a *asides) add(s subject, offset uint64) {
	a.all[ref{s.partition, offset}] = true
	if s.name == "" {
		return
	}
	held := a.held[s]
	if i, there := slices.BinarySearch(held, offset); !there {
		a.held[s] = slices.Insert(held, i, offset)
	}
}

func (a *asides) remove(s subject, offset uint64) {
	delete(a.all, ref{s.partition, offset})
	held := a.held[s]
	i, there := slices.BinarySearch(held, offset)
	if !there {
		return
	}
	if a.held[s] = slices.Delete(held, i, i+1); len(a.held[s]) == 0 {
		delete(a.held, s)
	}
}

// deadLetter is what is on record of an event set aside.
type deadLetter struct {
	AsideEvent
	Hash string `json:"hash,omitempty"` // of the event: see eventlog.Hash; "" where it could not be read
}

// anchor is that of the event, which stands there; nil where it could not be read.
func (d *deadLetter) anchor(at ref) *anchor {
	if d.Hash == "" {
		return nil
	}
	return &anchor{Offset: at.offset, Source: d.Source, ID: d.ID, Time: d.Time, Hash: d.Hash}
}

// asideNote is the note, of the kind, of an event set aside.
func asideNote(kind string, e *eventlog.Event, reason string, behind string) querydb.Note {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + " …"
	}
	d := deadLetter{AsideEvent: AsideEvent{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, Time: e.Time, Reason: reason, Behind: behind,
	}}
	if a := anchorOf(e); a != nil {
		d.Hash = a.Hash
	}
	return querydb.Note{Kind: kind, ID: refOf(e).id(), Value: encode(d)}
}

func parseAside(n querydb.Note) (deadLetter, ref, error) {
	var a deadLetter
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
