package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// upgrader brings what is on record about a projection from the former form into the present one, without a fold:
//
//  1. The former note is put behind a fence: what it said stands in a note of its place that no former version can
//     read. So a process of one stops, and none begins.
//  2. Dead letters and decisions are copied, each with the hash of the event that the log holds at its place.
//  3. The Header and the checkpoints are written, and the former note keeps the fence alone. From then on nobody reads
//     the former dead letters and decisions, which are removed in the background: there may be many.
//
// Whoever is interrupted, or finds another process at it, goes on from what is on record.
type upgrader struct {
	p   Projection
	src eventlog.Source
	db  *querydb.DB
	log *slog.Logger
}

func (u *upgrader) upgrade(ctx context.Context, p *location) error {
	if !p.former.fenced {
		behind := fence(u.p.Name, p.former.text, p.former.revision)
		if err := u.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{behind}}); err != nil {
			return fmt.Errorf("take over the checkpoints of %s: %w", u.p.Name, err)
		}
		p.former.revision++
	}
	if err := u.copy(ctx, p); err != nil {
		return fmt.Errorf("take over the dead letters of %s: %w", u.p.Name, err)
	}
	checkpoints, err := u.checkpoints(ctx, &p.Record)
	if err != nil {
		return err
	}
	left := formerLeftover(u.p.Name)
	notes := []querydb.Note{p.note(serves, u.p.Name, p.revision), fence(u.p.Name, nil, p.former.revision), left}
	notes = append(notes, checkpoints...)
	if err := u.db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("take over the checkpoints of %s: %w", u.p.Name, err)
	}
	u.db.Notes().DropLeftover(left)
	u.log.InfoContext(ctx, "projection: the checkpoints are taken over from a former version; it must not run on this "+
		"store any more")
	return nil
}

// checkpoints are those of the record, each with the event that the log holds at its place.
func (u *upgrader) checkpoints(ctx context.Context, b *Record) (notes []querydb.Note, err error) {
	w := u.verifier()
	for partition, c := range b.Partitions {
		if c.Incarnation, err = eventlog.IncarnationOf(ctx, u.src, partition); err != nil {
			return nil, err
		}
		e, err := w.formerEvent(ctx, position.Ref{Partition: partition, Offset: c.Offset})
		if err != nil {
			return nil, err
		}
		c.Anchor = position.AnchorOf(e)
		notes = append(notes, querydb.Note{
			Kind: b.Kind(KindCheckpoint, u.p.Name), ID: partition, Value: encode(c), IfRevision: true,
		})
	}
	return notes, nil
}

func (u *upgrader) verifier() verifier {
	return verifier{position.Verifier{Source: u.src, Projection: u.p.Name}}
}

// copy copies dead letters and decisions, as many at once as a commit holds, each time with a look at the fence: once
// another process has taken all over, and gone on, nothing of what was is written any more.
func (u *upgrader) copy(ctx context.Context, p *location) error {
	most, _ := u.db.TxLimits()
	if most == 0 {
		most = querydb.MaxPageRows
	}
	guard := querydb.Note{Kind: formerCheckpoint, ID: u.p.Name, IfRevision: true, Revision: p.former.revision,
		CheckOnly: true}
	notes := []querydb.Note{guard}
	flush := func() error {
		err := u.db.Apply(ctx, querydb.Batch{Notes: notes})
		notes = append(notes[:0], guard)
		return err
	}
	add := func(n querydb.Note, err error) error {
		if err == nil {
			notes = append(notes, n)
		}
		if err == nil && len(notes) == most {
			err = flush()
		}
		return err
	}
	w := u.verifier()
	if p.Table != "" {
		kind := p.Kind(KindDeadLetter, u.p.Name)
		err := eachNote(ctx, u.db, formerLetter+u.p.Name, func(n querydb.Note) error {
			return add(w.formerDeadLetter(ctx, kind, n))
		})
		if err != nil {
			return err
		}
	}
	err := eachNote(ctx, u.db, formerReplay+u.p.Name, func(n querydb.Note) error {
		return add(w.formerDecision(ctx, p.Generation, n))
	})
	if err != nil || len(notes) == 1 {
		return err
	}
	return flush()
}

// Kinds of the notes of earlier versions: one note for all checkpoints of a projection, which names no event, and dead
// letters and decisions without a hash of their events.
const (
	formerCheckpoint = "checkpoint" // ID is the projection's name
	formerLetter     = "aside:"     // + name
	formerReplay     = "replay:"    // + name
)

// formerLeftover has the dead letters and decisions removed that nobody reads once they are taken over.
func formerLeftover(projection string) querydb.Note {
	return querydb.LeftoverNote([]string{formerLetter + projection, formerReplay + projection})
}

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
	return append(list, fence(w.Projection, nil, b.former.revision), formerLeftover(w.Projection)), err
}
