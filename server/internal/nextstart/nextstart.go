// Package nextstart says what the next start of a server does with the rows of projections, and how long that takes.
package nextstart

import (
	"context"
	"fmt"
	"io"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/projections"
)

// Print prints which projections a start would rebuild, or build indexes of, and how long that takes, and of which the
// code has changed. It returns how many these are, and how fast each projection was folded last.
func Print(ctx context.Context, to io.Writer, db *querydb.DB, of []projection.Projection) (
	n int, all map[string]rates.Forecast, err error,
) {
	all = map[string]rates.Forecast{}
	for _, one := range of {
		f, err := forecast(ctx, db, one)
		if err != nil { // which keeps no start from its work
			fmt.Fprintf(to, "how long a rebuild of projection %s takes is not known: %v\n", one.Name, err)
		}
		all[one.Name] = f
		text, err := startOf(ctx, db, &one, &f)
		if err != nil {
			return n, nil, err
		}
		if text != "" {
			n++
			fmt.Fprintln(to, text)
		}
	}
	return n, all, nil
}

// startOf says what a start does with the rows of a projection; "" where that is nothing.
func startOf(ctx context.Context, db *querydb.DB, one *projection.Projection, f *rates.Forecast) (string, error) {
	why, err := projection.RebuildReason(ctx, db, *one)
	if err != nil {
		return "", fmt.Errorf("find out whether %s is to be rebuilt: %w", one.Name, err)
	}
	if why == "" {
		changed, err := projection.CodeChanged(ctx, db, *one)
		if err != nil {
			return "", fmt.Errorf("find out whether the code of %s has changed: %w", one.Name, err)
		}
		if !changed {
			return "", nil
		}
		return fmt.Sprintf("a start rebuilds nothing of projection %s, but %s", one.Name,
			projections.CodeChanged(one)), nil
	}
	copies, err := projection.CopiesRows(ctx, db, *one)
	if err != nil {
		return "", fmt.Errorf("find out how %s is to be rebuilt: %w", one.Name, err)
	}
	if copies {
		return fmt.Sprintf("a start builds the indexes of projection %s from its rows: %s\n  takes: %s", one.Name, why,
			f.IndexBuild()), nil
	}
	return fmt.Sprintf("a start rebuilds projection %s from the whole log: %s\n  takes: %s", one.Name, why,
		f.Rebuild()), nil
}

// forecast is by what it is said how long work on the rows of a projection takes.
func forecast(ctx context.Context, db *querydb.DB, one projection.Projection) (f rates.Forecast, err error) {
	if f.Rates, err = rates.Read(ctx, db, one.Name); err != nil {
		return f, err
	}
	offsets, err := projection.ServingOffsets(ctx, db, one)
	if err != nil {
		return f, fmt.Errorf("find out how many events projection %s has folded: %w", one.Name, err)
	}
	for _, offset := range offsets {
		f.Events += offset
	}
	return f, nil
}
