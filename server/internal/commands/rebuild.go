package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/problem"
)

// Rebuild has models rebuilt: by a running server, or at the next start where the store is given.
type Rebuild struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are rebuilt together."`
	client.Server
	StoreOptions
}

// Run has the models rebuilt.
func (c *Rebuild) Run(ctx context.Context, p *Program) error {
	if c.Store == "" {
		if err := p.RefuseWithoutStore(StoreFlags...); err != nil {
			return err
		}
		return c.remote(ctx, p)
	}
	return c.offline(ctx, p)
}

func (c *Rebuild) remote(ctx context.Context, p *Program) error {
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	body, err := json.Marshal(admin.RebuildRequest{Names: c.Name})
	if err != nil {
		return err
	}
	if err := to.Do(ctx, http.MethodPost, "/admin/rebuild", "application/json", body, nil); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	fmt.Fprintln(p.Stdout, "the rebuild has begun: GET /admin/projections shows its progress")
	return nil
}

func (c *Rebuild) offline(ctx context.Context, p *Program) (err error) {
	names, err := admin.ProjectionsNamed(p.Projections, c.Name)
	if err != nil {
		return config.Wrong("name", "%w", err)
	}
	o, err := c.StoreOptions.Open(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	other, err := logcheck.First(ctx, o.DB, o.Source, p.Projections)
	if err != nil {
		return err
	}
	if other != nil {
		return logcheck.Error(other)
	}
	for _, one := range p.Projections {
		if !names[one.Name] {
			continue
		}
		if err := projection.RequestRebuild(ctx, o.DB, one); err != nil {
			return fmt.Errorf("rebuild %s: %w", one.Name, err)
		}
		fmt.Fprintf(p.Stdout, "%s: the next start rebuilds from the whole log\n", one.Name)
	}
	p.remindOfTables(o.DB)
	return nil
}

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
