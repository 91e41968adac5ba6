package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// anchor names an event by its place and by what it says, so that a source can be asked whether it is still there.
type anchor struct {
	Offset uint64    `json:"offset"`
	Source string    `json:"source"`
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Hash   string    `json:"hash"`
}

// anchorOf is the anchor of an event that could be read, nil of one that is malformed: what is known of such an event hangs
// on how it was read.
func anchorOf(e *eventlog.Event) *anchor {
	if e == nil || e.Malformed != nil {
		return nil
	}
	return &anchor{Offset: e.Offset, Source: e.Source, ID: e.ID, Time: e.Time, Hash: eventlog.Hash(e)}
}

// contradicts reports whether the event, which stands at the anchor's place, is another one.
func (a *anchor) contradicts(e *eventlog.Event) bool {
	if e.Malformed != nil {
		return false
	}
	return a.Source != e.Source || a.ID != e.ID || a.Hash != "" && a.Hash != eventlog.Hash(e)
}

func (a *anchor) String() string {
	if a == nil {
		return "an event that could not be read"
	}
	return fmt.Sprintf("event %.100q of %.100q, of %s", a.ID, a.Source, a.Time.UTC().Format(time.RFC3339))
}

// MismatchError says that a source is not the one that rows were folded from, or has lost events of it.
type MismatchError struct {
	Projection string
	Partition  string
	// Record is what does not fit: one of the Record constants, or the words of another record.
	Record string
	// Offset is where the source is to hold the event that Event describes.
	Offset uint64
	Event  string
	// Found is what the source holds there, "" where it ends before, at End.
	Found string
	End   uint64
	// Remade says that the partition has been made anew: it has another identity, whatever events it holds.
	Remade bool
}

func (e *MismatchError) Error() string {
	record := fmt.Sprintf("the %s of projection %s at offset %d of partition %q is about %s", e.Record, e.Projection, e.Offset, e.Partition, e.Event)
	switch {
	case e.Remade:
		return record + ", in a log that was made before this one and is another"
	case e.Found == "":
		return fmt.Sprintf("%s, and the log ends at offset %d: it is another log, or an older copy", record, e.End)
	}
	return fmt.Sprintf("%s, and the log holds %s there: it is another log, or went another way from an older copy", record, e.Found)
}

// witness asks a source whether it holds what is on record about one projection.
type witness struct {
	src        eventlog.Source
	projection string
}

// holds returns a *MismatchError where the partition does not reach the offset, or holds another event than the anchor's; a
// nil anchor fits any. An event that the source has forgotten, with all before it, is no contradiction.
func (w *witness) holds(ctx context.Context, record, partition string, offset uint64, a *anchor) error {
	if a != nil {
		offset = max(offset, a.Offset)
	}
	if offset == 0 {
		return nil
	}
	end, known, err := endOf(ctx, w.src, partition)
	if err != nil {
		return err
	}
	wrong := &MismatchError{Projection: w.projection, Partition: partition, Record: record, Offset: offset, Event: a.String(), End: end}
	if known && end < offset {
		return wrong
	}
	if a == nil {
		return nil
	}
	wrong.Offset = a.Offset
	events, err := w.src.Read(ctx, partition, a.Offset-1, 1)
	if err != nil {
		return fmt.Errorf("read event %d of partition %q: %w", a.Offset, partition, err)
	}
	switch {
	case len(events) == 0:
		if known { // it ends further on, and has forgotten all its events
			return nil
		}
		return wrong
	case events[0].Offset > a.Offset:
		return w.forgot(ctx, wrong)
	case a.contradicts(&events[0]):
		wrong.Found = anchorOf(&events[0]).String()
		return wrong
	}
	return nil
}

// forgot returns the mismatch, unless the source begins behind the event: then it has forgotten it. One that has events
// before and behind, and not the event, is another.
func (w *witness) forgot(ctx context.Context, wrong *MismatchError) error {
	events, err := w.src.Read(ctx, wrong.Partition, 0, 1)
	if err != nil {
		return fmt.Errorf("read the first event of partition %q: %w", wrong.Partition, err)
	}
	if len(events) > 0 && events[0].Offset > wrong.Offset {
		return nil
	}
	wrong.Found = "no event"
	return wrong
}

// checkpoint is holds for a checkpoint, or a claim.
func (w *witness) checkpoint(ctx context.Context, record, partition string, c *checkpoint) error {
	if c.reach() == 0 {
		return nil
	}
	end, known, err := endOf(ctx, w.src, partition)
	if err != nil {
		return err
	}
	incarnation := c.Incarnation
	if !known || end > 0 { // of one that is not there nobody can tell
		if incarnation, err = eventlog.IncarnationOf(ctx, w.src, partition); err != nil {
			return err
		}
	}
	if incarnation != c.Incarnation {
		return &MismatchError{
			Projection: w.projection, Partition: partition, Record: record, Offset: c.reach(),
			Event: c.Anchor.String(), End: end, Remade: true,
		}
	}
	return w.holds(ctx, record, partition, c.Offset, c.Anchor)
}

// What can be at odds with a source: see MismatchError.Record.
const (
	RecordCheckpoint = "checkpoint"        // how far the rows have come
	RecordReplaced   = "former checkpoint" // how far rows had come that are being replaced
	RecordDeadLetter = "dead letter"       // an event that could not be folded
	RecordDecision   = "decision"          // to retry or skip such an event
)

// endOf is the offset of the last event of a partition, where the source knows it. A partition that is not there ends at 0.
func endOf(ctx context.Context, src eventlog.Source, partition string) (end uint64, known bool, err error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("list the partitions: %w", err)
	}
	head, is := src.(eventlog.Head)
	if there := slices.Contains(partitions, partition); !there || !is {
		return 0, !there, nil
	}
	if end, err = head.Head(ctx, partition); err != nil {
		return 0, false, fmt.Errorf("find the end of partition %q: %w", partition, err)
	}
	return end, true, nil
}

// mismatched reports whether the error says that the source is another.
func mismatched(err error) bool {
	var m *MismatchError
	return errors.As(err, &m)
}

// events calls report with each dead letter and each decision that the source contradicts, until that returns an error.
func (w *witness) events(ctx context.Context, db *querydb.DB, b *build, report func(error) error) error {
	if b.former != nil {
		return w.formerEvents(ctx, db, b, report)
	}
	look := func(record string, at ref, a *anchor) error {
		err := w.holds(ctx, record, at.partition, at.offset, a)
		if mismatched(err) {
			err = report(err)
		}
		return err
	}
	if b.Table != "" {
		err := eachNote(ctx, db, b.kind(kindDeadLetter, w.projection), func(n querydb.Note) error {
			a, at, err := parseAside(n)
			if err != nil {
				return damage{err}
			}
			return look(RecordDeadLetter, at, a.anchor(at))
		})
		if err != nil {
			return err
		}
	}
	return eachNote(ctx, db, kindDecision+w.projection, func(n querydb.Note) error {
		p, err := parseReplay(n)
		if err != nil {
			return damage{err}
		}
		if err = w.decision(ctx, &p); mismatched(err) {
			err = report(err)
		}
		return err
	})
}
