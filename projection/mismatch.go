package projection

import (
	"context"
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// Mismatches tells, without a change of anything, what is on record about a projection that the source contradicts: nothing
// must be appended to it, nor folded from it, as long as there is any.
func Mismatches(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) (all []*MismatchError, err error) {
	b, err := readBuild(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	kept, err := readCompletion(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	collect := func(err error) error {
		var m *MismatchError
		if errors.As(err, &m) {
			all = append(all, m)
			return nil
		}
		return err
	}
	w := witness{src: src, projection: p.Name}
	if err := w.checkpoints(ctx, &b, kept.Claims, collect); err != nil {
		return nil, err
	}
	return all, w.events(ctx, db, &b, collect)
}

// AgreedOffsets tells, by partition, the last offset at which the source holds an event that is on record about the projection:
// between that and a mismatch behind it the source may hold others.
func AgreedOffsets(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) (map[string]uint64, error) {
	b, err := readBuild(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	kept, err := readCompletion(ctx, db, p.Name)
	if err != nil {
		return nil, err
	}
	w, last := witness{src: src, projection: p.Name}, map[string]uint64{}
	agrees := func(partition string, a *anchor) error {
		if a == nil || a.Offset <= last[partition] {
			return nil
		}
		err := w.holds(ctx, RecordCheckpoint, partition, a.Offset, a)
		if mismatched(err) {
			return nil
		}
		if err == nil {
			last[partition] = a.Offset
		}
		return err
	}
	for _, all := range []map[string]checkpoint{b.Partitions, kept.Claims} {
		for partition, c := range all {
			if err := agrees(partition, c.Anchor); err != nil {
				return nil, err
			}
		}
	}
	if b.Table != "" && b.former == nil {
		err := eachNote(ctx, db, b.kind(kindDeadLetter, p.Name), func(n querydb.Note) error {
			d, at, err := parseAside(n)
			if err != nil {
				return damage{err}
			}
			return agrees(at.partition, d.anchor(at))
		})
		if err != nil {
			return nil, err
		}
	}
	return last, eachNote(ctx, db, kindDecision+p.Name, func(n querydb.Note) error {
		d, err := parseReplay(n)
		if err == nil {
			err = agrees(d.partition, d.Event)
		}
		if err == nil {
			err = agrees(d.partition, d.After)
		}
		return err
	})
}

// AcceptLog has the projection take the source as it is: what was decided about events that the source does not hold is
// dropped, and so is what is on record of the rows and of those that they replace, so that the next start folds the
// whole source anew. It may be repeated.
func AcceptLog(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) error {
	w := witness{src: src, projection: p.Name}
	b, err := readBuild(ctx, db, p.Name)
	if err != nil {
		return err
	}
	var kept, drop []querydb.Note
	if b.former != nil {
		if kept, err = w.acceptFormer(ctx, db, &b); err != nil {
			return err
		}
	}
	err = eachNote(ctx, db, kindDecision+p.Name, func(n querydb.Note) error {
		d, err := parseReplay(n)
		if err != nil {
			return damage{err}
		}
		err = w.decision(ctx, &d)
		if mismatched(err) {
			drop = append(drop, querydb.Note{Kind: n.Kind, ID: n.ID})
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range append(drop, kept...) {
		if err := db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{n}}); err != nil {
			return err
		}
	}
	return b.disown(ctx, db, p.Name)
}

// disown has the rows begun anew, whatever they were folded from. First comes the wish, so that an interruption leaves no
// checkpoint missing of rows that are to stay.
func (b *build) disown(ctx context.Context, db *querydb.DB, projection string) error {
	// Not deletions, for the reason that Forget has.
	notes := []querydb.Note{{Kind: kindCompletion, ID: projection, Value: encode(completion{})}}
	switch {
	case b.former == nil && b.Table != "":
		notes = append(notes, b.again(projection, b.revision))
	case b.former != nil || b.forgotten:
		notes = append(notes, ResetNote(projection))
	}
	if err := db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil || b.former != nil || b.Table == "" {
		return err
	}
	for _, kind := range [...]string{kindCheckpoint, kindDeadLetter} {
		if err := dropKind(ctx, db, b.kind(kind, projection)); err != nil {
			return err
		}
	}
	return nil
}

// checkpoints calls report with what the source says of each checkpoint and open claim, until that returns an error.
func (w *witness) checkpoints(ctx context.Context, b *build, kept claims, report func(error) error) error {
	for partition, c := range b.Partitions {
		if err := report(w.checkpoint(ctx, RecordCheckpoint, partition, &c)); err != nil {
			return err
		}
	}
	for partition, c := range kept.open(b.Partitions) {
		if err := report(w.checkpoint(ctx, RecordReplaced, partition, &c)); err != nil {
			return err
		}
	}
	return nil
}

// decision is holds for a decision: its event, and the one that it took effect after.
func (w *witness) decision(ctx context.Context, d *replay) error {
	err := w.holds(ctx, RecordDecision, d.partition, d.offset, d.Event)
	if err == nil && !d.Skip {
		err = w.holds(ctx, RecordDecision, d.partition, d.Moment, d.After)
	}
	return err
}
