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

// Print prints which projections a start would rebuild, or build indexes of, and how long that takes, of which it goes
// on with rows that there are or makes none, and of which the code has changed. It returns how many these are, and how
// fast each projection was folded last.
func Print(ctx context.Context, to io.Writer, db *querydb.DB, of []projection.Projection) (
	n int, all map[string]rates.Forecast, err error,
) {
	all = map[string]rates.Forecast{}
	starts := map[string]projections.NextWork{}
	for _, unit := range projection.Units(of) {
		start, err := projections.NextStart(ctx, db, unit)
		if err != nil {
			return 0, nil, err
		}
		for _, one := range unit {
			starts[one.Name] = start
		}
	}
	for _, one := range of {
		f, err := forecast(ctx, db, one)
		if err != nil { // which keeps no start from its work
			fmt.Fprintf(to, "how long a rebuild of projection %s takes is not known: %v\n", one.Name, err)
		}
		all[one.Name] = f
		text, err := goesOn(ctx, db, &one, starts[one.Name], f)
		if err == nil && text == "" {
			text, err = startOf(ctx, db, &one, &f)
		}
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

// goesOn says of what other rows than those that serve a start goes on, or why it makes none; "" where it makes new
// ones, or has nothing to do.
func goesOn(
	ctx context.Context, db *querydb.DB, one *projection.Projection, start projections.NextWork, f rates.Forecast,
) (string, error) {
	switch {
	case start.Why != "":
		return fmt.Sprintf("a start leaves projection %s as it is: %s", one.Name, start.Why), nil
	case start.Resumes:
		return fmt.Sprintf("a start takes up the former rows of projection %s, which are of this version, and folds what "+
			"came since", one.Name), nil
	case start.Builds:
		built, err := projection.BuiltOffsets(ctx, db, *one)
		if err != nil {
			return "", fmt.Errorf("find out how far the rows of %s are that are being built: %w", one.Name, err)
		}
		if copies, err := projection.CopiesRows(ctx, db, *one); err == nil && copies && len(built) == 0 {
			return fmt.Sprintf("a start goes on with the index build of projection %s from its rows\n  takes: %s, less what is "+
				"copied already", one.Name, f.IndexBuild()), nil
		}
		var folded uint64
		for _, offset := range built {
			folded += offset
		}
		f.Events -= min(f.Events, folded)
		return fmt.Sprintf("a start goes on with the rows of projection %s that are being built: they have %d events\n"+
			"  takes: %s", one.Name, folded, f.Rebuild()), nil
	}
	return "", nil
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
