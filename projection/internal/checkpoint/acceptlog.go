package checkpoint

import (
	"context"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// AdoptSource makes the projection take a log that was restored or replaced as its own: what was decided about events
// that the source does not hold is dropped, and so is what is on record of the rows and of those that they replace, so
// that the next start folds the whole source. It may be repeated.
func AdoptSource(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) error {
	w := verifier{position.Verifier{Source: src, Projection: p.Name}}
	b, err := readRecord(ctx, db, p.Name)
	if err != nil {
		return err
	}
	var kept, drop []querydb.Note
	if b.former != nil {
		if kept, err = w.acceptFormer(ctx, db, &b); err != nil {
			return err
		}
	}
	err = eachNote(ctx, db, deadletter.KindDecision+p.Name, func(n querydb.Note) error {
		d, err := deadletter.ParseDecision(n)
		if err != nil {
			return DamageError{err}
		}
		err = w.decision(ctx, &d)
		if position.Mismatched(err) {
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
	if err := disownBeside(ctx, db, p.Name); err != nil {
		return err
	}
	if err := disownOthers(ctx, db, p); err != nil {
		return err
	}
	return b.disown(ctx, db, p.Name)
}

// disownOthers has nobody see the rows in the projection's tables that are on record under other names: of projections
// that have folded its models before, and of such as share its tables and take the log as their own too.
func disownOthers(ctx context.Context, db *querydb.DB, p Projection) error {
	for _, in := range []slot{builds, keeps, serves} { // the last are what a repetition finds the others by
		others := map[string]Record{}
		err := eachHeader(ctx, db, in, func(name string, b *Record) bool {
			return name != p.Name && b.concerns(p.hasTable)
		}, func(name string, b *Record) error {
			others[name] = *b
			return nil
		})
		if err != nil {
			return err
		}
		for name, b := range others {
			if in == serves {
				err = b.disown(ctx, db, name)
			} else {
				err = forget(ctx, db, in, name, &b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// disownBeside forgets the rows beside those that serve, which are of the former log too.
func disownBeside(ctx context.Context, db *querydb.DB, projection string) error {
	for _, in := range []slot{builds, keeps} {
		b, err := readRecordIn(ctx, db, in, projection)
		if err == nil {
			err = forget(ctx, db, in, projection, &b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forget forgets rows in a slot beside those that serve, and such as they have replaced, unless that was done before.
func forget(ctx context.Context, db *querydb.DB, in slot, projection string, b *Record) error {
	c, err := readCompletionIn(ctx, db, in, projection)
	if err != nil || b.Table == "" && len(c.Claims) == 0 {
		return err
	}
	none, nothing := Header{Disowned: true, Moved: true}, completion{slot: in, revision: c.revision}
	var left leftover
	left.leave(&b.Header, projection)
	err = db.Apply(ctx, querydb.Batch{Notes: append(left.notes(), none.note(in, projection, b.revision),
		nothing.note(projection))})
	if err == nil {
		left.drop(db)
	}
	return err
}

// disown has the rows rebuilt, whatever they were folded from. The request for it comes first, so that an interruption
// leaves no rows that are to stay without a checkpoint.
func (r *Record) disown(ctx context.Context, db *querydb.DB, projection string) error {
	// Not deletions, for the reason that NewResetNote has.
	notes := []querydb.Note{{Kind: serves.completion(), ID: projection, Value: encode(completion{})}}
	switch {
	case r.former == nil && r.Table != "":
		r.Disowned = true
		notes = append(notes, r.again(projection, r.revision))
	case r.former != nil || r.forgotten:
		notes = append(notes, NewResetNote(projection))
	}
	if err := db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil || r.former != nil || r.Table == "" {
		return err
	}
	for _, kind := range kindsOfGeneration {
		if err := db.Notes().DeleteAll(ctx, r.Kind(kind, projection)); err != nil {
			return err
		}
	}
	return nil
}
