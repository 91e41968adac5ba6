package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// unrecorded returns an error that names tables which hold rows of a fold that is not on record, nil where there are
// none.
func (s *tables) unrecorded(ctx context.Context) error {
	there, err := s.Exists(ctx, querydb.NotesTable())
	if err != nil {
		return err
	}
	if !there {
		return s.withoutNotes(ctx)
	}
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	for _, one := range s.p.Projections {
		if err := projection.CheckUnknownRows(ctx, db, one); err != nil {
			return err
		}
	}
	return nil
}

// withoutNotes refuses to make the table of notes beside rows: nothing would say how far they are, nor what was decided
// about events.
func (s *tables) withoutNotes(ctx context.Context) error {
	var all []*driver.Table
	for _, m := range s.p.Models {
		all = append(all, m.DriverTable(0))
	}
	list, err := s.FoldedTables(ctx, all)
	if err != nil {
		return fmt.Errorf("look whether rows are there whose notes are lost: %w", err)
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("there is no table of notes, and there are rows of a fold that is not on record, in %s: "+
		"restore the notes from a backup; or stop all servers and run 'server tables apply --notes-lost', which has the log "+
		"rebuilt into other tables", strings.Join(list, ", "))
}

// rebuildElsewhere has projections rebuild into other tables where those that are next hold rows that nothing is on
// record of.
func (s *tables) rebuildElsewhere(ctx context.Context) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	for _, one := range s.p.Projections {
		err := projection.CheckUnknownRows(ctx, db, one)
		var unrecorded *querydb.UnknownRowsError
		if errors.As(err, &unrecorded) {
			fmt.Fprintf(s.p.Stdout, "the rows in table %s stay: the next start rebuilds projection %s from the whole log\n",
				unrecorded.Table, one.Name)
			err = projection.RequestRebuild(ctx, db, one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
