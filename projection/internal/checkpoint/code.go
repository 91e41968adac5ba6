package checkpoint

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// A Header keeps the hash of the code with which its rows were begun, and nobody writes another: of several processes
// with different programs each compares, and none undoes what another has put on record.

// codeDiffers reports whether the rows were begun by other code than the projection has, as far as both are known.
func (h *Header) codeDiffers(p Projection) bool {
	return h.Code != "" && p.Code != "" && h.Code != p.Code
}

// recordCode puts on record which code folds, where nothing says so: the rows are of a version of foldql that kept no
// hash, or of a program without one.
func recordCode(ctx context.Context, s *State, b Record) error {
	b.Code = s.p.Code
	note := b.note(b.slot, s.p.Name, b.revision)
	if err := s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
		return fmt.Errorf("record which code folds the rows of %s: %w", s.p.names(), err)
	}
	return nil
}

// CodeChanged reports whether the rows that serve are of the form that the models have, and were begun by other code
// than the projection has.
func CodeChanged(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	at, err := readLocation(ctx, db, p)
	return err == nil && at.good() && at.codeDiffers(p), err
}

// AcceptCode puts on record that the rows which have the form of the models, those that serve and those that are built,
// are those of the projection's code.
func AcceptCode(ctx context.Context, db *querydb.DB, p Projection) error {
	found, err := Look(ctx, db, []Projection{p})
	if err != nil {
		return err
	}
	var notes []querydb.Note
	for in, rows := range map[slot]*Rows{serves: found[0].Serving, builds: found[0].Building} {
		b, err := readRecordIn(ctx, db, in, p.Name)
		if err != nil {
			return err
		}
		if rows == nil || !rows.Own || b.former != nil || !b.codeDiffers(p) {
			continue
		}
		b.Code = p.Code
		notes = append(notes, b.note(in, p.Name, b.revision))
	}
	if len(notes) == 0 {
		return nil
	}
	if err := db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("record which code the rows of %s are accepted as those of: %w", p.names(), err)
	}
	return nil
}
