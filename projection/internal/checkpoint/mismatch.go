package checkpoint

import (
	"context"
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// verifier asks a source whether it holds what is on record about one projection.
type verifier struct{ position.Verifier }

// FindMismatches returns, without changing anything, what is on record about a projection that the source contradicts:
// nothing must be appended to it, nor folded from it, as long as there is any.
func FindMismatches(ctx context.Context, db *querydb.DB, src eventlog.Source,
	p Projection) (all []*position.MismatchError, err error) {
	b, err := readRecord(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	kept, err := readCompletion(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	collect := func(err error) error {
		var m *position.MismatchError
		if errors.As(err, &m) {
			all = append(all, m)
			return nil
		}
		return err
	}
	w := verifier{position.Verifier{Source: src, Projection: p.Name}}
	if err := w.checkpoints(ctx, &b, kept.Claims, collect); err != nil {
		return nil, err
	}
	built, claims, err := readBuilt(ctx, db, p)
	if err == nil {
		err = w.checkpoints(ctx, &built, claims, collect)
	}
	if err == nil {
		err = othersServing(ctx, db, p, &b, func(o *Record) error { return w.checkpoints(ctx, o, nil, collect) })
	}
	if err != nil {
		return nil, err
	}
	return all, w.events(ctx, db, &b, collect)
}

// readBuilt is what is on record of the rows that the projection builds beside those that serve, and of such as they
// have replaced.
func readBuilt(ctx context.Context, db *querydb.DB, p Projection) (b Record, claims Replaced, err error) {
	if b, err = readRecordIn(ctx, db, builds, p.Name); err != nil {
		return b, nil, err
	}
	c, err := readCompletionIn(ctx, db, builds, p.Name)
	return b, c.Claims, err
}

// othersServing visits what is on record of the rows that serve where nothing is under the projection's own name: they
// are those of projections in which its models were folded before.
func othersServing(ctx context.Context, db *querydb.DB, p Projection, own *Record, visit func(*Record) error) error {
	if own.Table != "" || own.former != nil {
		return nil
	}
	return eachServing(ctx, db, p, func(_ string, b *Record) error { return visit(b) })
}

// LastMatchingOffsets returns, by partition, the last offset at which the source holds an event that is on record about
// the projection: between that and a mismatch behind it the source may hold others.
func LastMatchingOffsets(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) (map[string]uint64,
	error) {
	b, err := readRecord(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	kept, err := readCompletion(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	w, last := verifier{position.Verifier{Source: src, Projection: p.Name}}, map[string]uint64{}
	agrees := func(partition string, a *position.Anchor) error {
		if a == nil || a.Offset <= last[partition] {
			return nil
		}
		err := w.Holds(ctx, position.RecordCheckpoint, partition, a.Offset, a)
		if position.Mismatched(err) {
			return nil
		}
		if err == nil {
			last[partition] = a.Offset
		}
		return err
	}
	built, claims, err := readBuilt(ctx, db, p)
	if err != nil {
		return nil, err
	}
	furthest := []map[string]Checkpoint{b.Partitions, kept.Claims, built.Partitions, claims}
	err = othersServing(ctx, db, p, &b, func(o *Record) error {
		furthest = append(furthest, o.Partitions)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, all := range furthest {
		for partition, c := range all {
			if err := agrees(partition, c.Anchor); err != nil {
				return nil, err
			}
		}
	}
	if b.Table != "" && b.former == nil {
		err := eachNote(ctx, db, b.Kind(KindDeadLetter, p.Name), func(n querydb.Note) error {
			d, at, err := deadletter.Parse(n)
			if err != nil {
				return DamageError{err}
			}
			return agrees(at.Partition, d.Anchor(at))
		})
		if err != nil {
			return nil, err
		}
	}
	return last, eachNote(ctx, db, deadletter.KindDecision+p.Name, func(n querydb.Note) error {
		d, err := deadletter.ParseDecision(n)
		if err == nil {
			err = agrees(d.Partition, d.Event)
		}
		if err == nil {
			err = agrees(d.Partition, d.After)
		}
		return err
	})
}

// checkpoints calls report with what the source says of each checkpoint and of those that were replaced, until that
// returns an error.
func (w *verifier) checkpoints(ctx context.Context, b *Record, kept Replaced, report func(error) error) error {
	for partition, c := range b.Partitions {
		if err := report(w.checkpoint(ctx, position.RecordCheckpoint, partition, &c)); err != nil {
			return err
		}
	}
	for partition, c := range kept.open(b.Partitions) {
		if err := report(w.checkpoint(ctx, position.RecordReplacedCheckpoint, partition, &c)); err != nil {
			return err
		}
	}
	return nil
}

// decision is Holds for a decision: its event, and the one that it took effect after.
func (w *verifier) decision(ctx context.Context, d *deadletter.Decision) error {
	err := w.Holds(ctx, position.RecordDecision, d.Partition, d.Offset, d.Event)
	if err == nil && !d.Skip {
		err = w.Holds(ctx, position.RecordDecision, d.Partition, d.Moment, d.After)
	}
	return err
}

// checkpoint is Holds for a checkpoint.
func (w *verifier) checkpoint(ctx context.Context, record, partition string, c *Checkpoint) error {
	if c.Reach() == 0 {
		return nil
	}
	end, err := position.EndOf(ctx, w.Source, partition)
	if err != nil {
		return err
	}
	incarnation := c.Incarnation
	if end > 0 { // of one that is not there nobody can tell
		if incarnation, err = eventlog.IncarnationOf(ctx, w.Source, partition); err != nil {
			return err
		}
	}
	if incarnation != c.Incarnation {
		return &position.MismatchError{
			Projection: w.Projection, Partition: partition, Record: record, Offset: c.Reach(),
			Event: c.Anchor.String(), End: end, Recreated: true, Identity: c.Incarnation,
		}
	}
	return w.Holds(ctx, record, partition, c.Offset, c.Anchor)
}

// events calls report with each dead letter and each decision that the source contradicts, until that returns an error.
func (w *verifier) events(ctx context.Context, db *querydb.DB, b *Record, report func(error) error) error {
	if b.former != nil {
		return w.formerEvents(ctx, db, b, report)
	}
	look := func(record string, at position.Ref, a *position.Anchor) error {
		err := w.Holds(ctx, record, at.Partition, at.Offset, a)
		if position.Mismatched(err) {
			err = report(err)
		}
		return err
	}
	if b.Table != "" {
		err := eachNote(ctx, db, b.Kind(KindDeadLetter, w.Projection), func(n querydb.Note) error {
			a, at, err := deadletter.Parse(n)
			if err != nil {
				return DamageError{err}
			}
			return look(position.RecordDeadLetter, at, a.Anchor(at))
		})
		if err != nil {
			return err
		}
	}
	return eachNote(ctx, db, deadletter.KindDecision+w.Projection, func(n querydb.Note) error {
		p, err := deadletter.ParseDecision(n)
		if err != nil {
			return DamageError{err}
		}
		if err = w.decision(ctx, &p); position.Mismatched(err) {
			err = report(err)
		}
		return err
	})
}
