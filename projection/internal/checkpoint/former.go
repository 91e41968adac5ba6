package checkpoint

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// Kinds of the notes of earlier versions: one note for all checkpoints of a projection, which names no event, and dead
// letters and decisions without a hash of their events.
const (
	formerCheckpoint = "checkpoint" // ID is the projection's name
	formerLetter     = "aside:"     // + name
	formerReplay     = "replay:"    // + name
)

// former is what is on record in the former form.
type former struct {
	text     json.RawMessage // the note, as a former version wrote it
	fenced   bool
	revision uint64
}

// fenced is the note that stands in the place of a former one. A former version reads the field version as a string,
// and refuses a number.
type fenced struct {
	Version int             `json:"version"`
	Taken   json.RawMessage `json:"taken,omitempty"` // what stood there, until all of it is taken over
	Again   bool            `json:"again,omitempty"` // see Header.Again
}

func fence(projection string, taken json.RawMessage, revision uint64) querydb.Note {
	return querydb.Note{
		Kind: formerCheckpoint, ID: projection, Value: encode(fenced{Version: 2, Taken: taken}), IfRevision: true,
		Revision: revision,
	}
}

// again is the fence with the request that the rows are rebuilt once all is taken over.
func (f *former) again(projection string) querydb.Note {
	return querydb.Note{
		Kind: formerCheckpoint, ID: projection, Value: encode(fenced{Version: 2, Taken: f.text, Again: true}),
		IfRevision: true, Revision: f.revision,
	}
}

// readFormer reads what is on record in the former form, if anything.
func (r *Record) readFormer(ctx context.Context, db *querydb.DB, projection string) error {
	r.Partitions = map[string]Checkpoint{}
	n, err := db.Notes().Get(ctx, formerCheckpoint, projection)
	if err != nil || n.Value == nil {
		return err
	}
	f := &former{text: n.Value, revision: n.Revision}
	var behind fenced
	if json.Unmarshal(n.Value, &behind) == nil {
		if behind.Taken == nil {
			return nil // a projection that began in the present form
		}
		f.text, f.fenced = behind.Taken, true
	}
	var was struct {
		Header
		Partitions map[string]struct {
			Offset   uint64 `json:"offset"`
			Replayed int    `json:"replayed"`
		} `json:"partitions"`
	}
	if err := json.Unmarshal(f.text, &was); err != nil {
		return err
	}
	r.former, r.Header, r.forgotten = f, was.Header, was.Table == ""
	r.Again = behind.Again
	for partition, c := range was.Partitions {
		r.Partitions[partition] = Checkpoint{Cursor: position.Cursor{Offset: c.Offset, Replayed: c.Replayed}}
	}
	return nil
}

// NeedsUpgrade reports whether what is on record about the projection has the form of an earlier version, and is
// taken over when it runs.
func NeedsUpgrade(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	b, err := readRecord(ctx, db, p.Name)
	return b.former != nil, err
}

// formerEvent reads the event at a place that a former version has put on record, nil where the source has it no more.
func (w *verifier) formerEvent(ctx context.Context, at position.Ref) (*eventlog.Event, error) {
	if at.Offset == 0 {
		return nil, nil
	}
	e, err := position.Fetch(ctx, w.Source, at.Partition, at.Offset)
	if errors.Is(err, position.ErrGone) {
		return nil, nil
	}
	return e, err
}

// formerDeadLetter is a dead letter in the present form. Where the source holds another event in its place, it is a
// *position.MismatchError.
func (w *verifier) formerDeadLetter(ctx context.Context, kind string, n querydb.Note) (querydb.Note, error) {
	d, at, err := deadletter.Parse(n)
	if err != nil {
		return n, DamageError{err}
	}
	var named *position.Anchor
	if d.ID != "" { // else it was an event that could not be read
		named = &position.Anchor{Offset: at.Offset, Source: d.Source, ID: d.ID, Time: d.Time}
	}
	if err := w.Holds(ctx, position.RecordDeadLetter, at.Partition, at.Offset, named); err != nil {
		return n, err
	}
	e, err := w.formerEvent(ctx, at)
	if err != nil {
		return n, err
	}
	if a := position.AnchorOf(e); a != nil && named != nil {
		d.Hash = a.Hash
	}
	return querydb.Note{Kind: kind, ID: n.ID, Value: encode(d)}, nil
}

// formerDecision is a decision in the present form. It names no event in the former one: where the source ends
// before, it is a *position.MismatchError.
func (w *verifier) formerDecision(ctx context.Context, generation int, n querydb.Note) (querydb.Note, error) {
	d, err := deadletter.ParseDecision(n)
	if err != nil {
		return n, DamageError{err}
	}
	if err := w.decision(ctx, &d); err != nil {
		return n, err
	}
	d.Generation = generation
	e, err := w.formerEvent(ctx, d.Ref)
	if err != nil {
		return n, err
	}
	d.Event = position.AnchorOf(e)
	if !d.Skip {
		if e, err = w.formerEvent(ctx, position.Ref{Partition: d.Partition, Offset: d.Moment}); err != nil {
			return n, err
		}
		d.After = position.AnchorOf(e)
	}
	return d.Note(w.Projection), nil
}

// formerEvents is events for what is on record in the former form.
func (w *verifier) formerEvents(ctx context.Context, db *querydb.DB, b *Record, report func(error) error) error {
	look := func(_ querydb.Note, err error) error {
		if position.Mismatched(err) {
			err = report(err)
		}
		return err
	}
	if b.Table != "" {
		err := eachNote(ctx, db, formerLetter+w.Projection, func(n querydb.Note) error {
			return look(w.formerDeadLetter(ctx, "", n))
		})
		if err != nil {
			return err
		}
	}
	return eachNote(ctx, db, formerReplay+w.Projection, func(n querydb.Note) error {
		return look(w.formerDecision(ctx, b.Generation, n))
	})
}

// acceptFormer returns the notes that keep what was decided about events which the source holds, and that keep earlier
// versions from going on.
func (w *verifier) acceptFormer(ctx context.Context, db *querydb.DB, b *Record) ([]querydb.Note, error) {
	var list []querydb.Note
	err := eachNote(ctx, db, formerReplay+w.Projection, func(n querydb.Note) error {
		d, err := w.formerDecision(ctx, b.Generation, n)
		if position.Mismatched(err) {
			return nil
		}
		list = append(list, d)
		return err
	})
	return append(list, fence(w.Projection, nil, b.former.revision)), err
}
