// Package logcheck compares the log with what is on record of the events that the rows were folded from, and says
// what would be lost with another log.
package logcheck

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/sources"
)

// What an operator can do about a log that is not the one that the rows are folded from.
const mismatchAdvice = "restore the log that the rows were folded from; or, to go on with this one, stop the " +
	"server and run " +
	"'server log accept', which shows what would be lost"

// Error says that nothing is appended or folded, and what to do.
func Error(m *projection.MismatchError) error {
	return fmt.Errorf("nothing is appended or folded: %w; %s", m, mismatchAdvice)
}

// Check is First as an error, for commands that end then.
func Check(ctx context.Context, db *querydb.DB, src *sources.Source, all []projection.Projection) error {
	other, err := First(ctx, db, src, all)
	if err == nil && other != nil {
		err = Error(other)
	}
	return err
}

// First returns what of all that is on record the source contradicts first, nil where that is nothing. It waits for
// events of a source that is still coming in.
func First(ctx context.Context, db *querydb.DB, src *sources.Source,
	all []projection.Projection) (*projection.MismatchError, error) {
	if m, err := Former(ctx, db, src, all); m != nil || err != nil {
		return m, err
	}
	return contradicted(ctx, db, src, all)
}

// Look is First that puts nothing on record.
func Look(ctx context.Context, db *querydb.DB, src *sources.Source,
	all []projection.Projection) (*projection.MismatchError, error) {
	if m, _, err := former(ctx, db, src, all); m != nil || err != nil {
		return m, err
	}
	return contradicted(ctx, db, src, all)
}

// contradicted is what the source contradicts first of the checkpoints, dead letters and decisions.
func contradicted(ctx context.Context, db *querydb.DB, src *sources.Source,
	all []projection.Projection) (*projection.MismatchError, error) {
	for i := 0; i < len(all); {
		list, err := projection.FindMismatches(ctx, db, src.Source, all[i])
		if err != nil {
			return nil, fmt.Errorf("compare the log with what is on record of %s: %w", all[i].Name, err)
		}
		if len(list) == 0 {
			i++
			continue
		}
		m := list[0]
		if !src.Growing || m.Recreated || m.Found != "" {
			return m, nil
		}
		err = src.Wait(ctx, eventlog.Offsets{m.Partition: m.Offset - 1})
		if sources.Ended(err) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}
