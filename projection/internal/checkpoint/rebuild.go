package checkpoint

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// RequestRebuild has the projection drop its rows and rebuild from the whole log when it opens next, as Rebuild does,
// and passes over tables that hold rows of a fold that is not on record: see querydb.UnknownRowsError. It does not
// compare the log with what is on record; the start does, and folds nothing where Mismatches finds any.
func RequestRebuild(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return err
	}
	for _, s := range at.begun() {
		if err := db.Generations().SkipUnknownRows(ctx, s.Model, s.Former); err != nil {
			return err
		}
	}
	b := &at.Record
	var note querydb.Note
	switch {
	case b.former != nil:
		note = b.former.again(p.Name)
	case b.Table == "":
		note = NewResetNote(p.Name) // there are no checkpoints to keep
	default:
		note = b.again(p.Name, b.revision)
	}
	return db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}})
}

// Rebuild drops the rows and rebuilds from the whole log.
func (s *State) Rebuild(ctx context.Context) error {
	s.known = false
	if err := s.Open(ctx); err != nil {
		return err
	}
	again := s.done.again(s.p.Name, s.done.revision)
	if err := s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{again}}); err != nil {
		s.known = false
		return err
	}
	s.known = false
	return s.Open(ctx)
}

// LookAround is for a projection that has nothing to fold: it returns ErrRewound where the rows have been begun again
// meanwhile.
func (s *State) LookAround(ctx context.Context, read int) error {
	n, err := s.db.Notes().Get(ctx, slotOf(s.db).header(), s.p.Name)
	if err != nil {
		return err
	}
	s.known = s.known && n.Revision == s.done.revision
	if err := Listen(ctx, s); err != nil {
		return err
	}
	for _, m := range s.p.Models {
		g, err := s.db.Generations().Recorded(ctx, m)
		if err != nil {
			return err
		}
		s.known = s.known && g.Number == s.generations[m.Table]
		// Another projection of the table may have begun its next generation: see querydb.Rebuilds.MarkAllRebuilding.
		for _, writer := range s.p.writers(m) {
			s.known = s.known && s.db.Rebuilds().Running(m, writer) == !s.serving.completion.Done
		}
	}
	if err := s.Open(ctx); err != nil {
		return err
	}
	if s.done.Generation != read {
		return ErrRewound
	}
	return nil
}

// NewResetNote is the note that takes away what is on record about a projection's rows: with it applied, the
// projection's next start drops its rows and folds the whole log, and so does one that runs on a shared store. What
// was decided about dead letters is not forgotten. The checkpoints are: a log that has lost what they cover is not
// found then.
func NewResetNote(projection string) querydb.Note {
	// Not a deletion: the note's revisions go on, so that nobody who has read the former takes a later one for it.
	return querydb.Note{Kind: serves.header(), ID: projection, Value: encode(Header{})}
}
