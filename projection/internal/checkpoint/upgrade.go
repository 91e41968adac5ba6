package checkpoint

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// upgrader brings what is on record about a projection from the former form into the present one, without a fold:
//
//  1. The former note is put behind a fence: what it said stands in a note of its place that no former version can
//     read. So a process of one stops, and none begins.
//  2. Dead letters and decisions are copied, each with the hash of the event that the log holds at its place.
//  3. The Header and the checkpoints are written, and the former note keeps the fence alone.
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
	notes := []querydb.Note{p.note(serves, u.p.Name, p.revision), fence(u.p.Name, nil, p.former.revision)}
	notes = append(notes, checkpoints...)
	if err := u.db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("take over the checkpoints of %s: %w", u.p.Name, err)
	}
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

// drop removes dead letters and decisions that were taken over. Where that fails they do no harm; the next start
// tries again.
func (u *upgrader) drop(ctx context.Context) {
	for _, kind := range [...]string{formerLetter, formerReplay} {
		if err := u.db.Notes().DeleteAll(ctx, kind+u.p.Name); err != nil {
			u.log.DebugContext(ctx, "projection: notes of a former version stay", "kind", kind, "error", err)
		}
	}
}
