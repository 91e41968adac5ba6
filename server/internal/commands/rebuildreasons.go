package commands

import (
	"context"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/problem"
)

// printRebuilds prints which projections a start would rebuild from the whole log, and returns how many.
func printRebuilds(ctx context.Context, p *Program, db *querydb.DB) (n int, err error) {
	for _, one := range p.Projections {
		why, err := projection.RebuildReason(ctx, db, one)
		if err != nil {
			return n, fmt.Errorf("find out whether %s is to be rebuilt: %w", one.Name, err)
		}
		if why == "" {
			continue
		}
		n++
		fmt.Fprintf(p.Stdout, "a start rebuilds projection %s from the whole log: %s\n", one.Name, why)
	}
	return n, nil
}

// refuseRebuild lets a request through only where this program would rebuild nothing: to decide about a dead letter is
// no reason to drop rows.
func refuseRebuild(db *querydb.DB, all []projection.Projection) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, one := range all {
				why, err := projection.RebuildReason(r.Context(), db, one)
				if err == nil && why != "" {
					err = fmt.Errorf("this program would rebuild projection %s: %s; use the program that folded the rows, "+
						"or start the server first", one.Name, why)
				}
				if err != nil {
					problem.FailedAgain(err.Error()).Write(w)
					return
				}
			}
			h.ServeHTTP(w, r)
		})
	}
}
