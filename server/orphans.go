package server

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/foldql/foldql/querydb"
)

// An embedded store makes tables by itself. What an operator decides about are those that no model has any more.

func (c *planCommand) planEmbedded(ctx context.Context, p *program, at storePlace) error {
	n := 0
	err := eachOrphan(ctx, p, at, func(_ *querydb.DB, o querydb.Orphan) error {
		n++
		_, err := fmt.Fprintf(p.stdout, "%s is of no model: --allow-delete removes it\n", o)
		return err
	})
	if err == nil && n == 0 {
		fmt.Fprintln(p.stdout, "there is nothing to do: every table is that of a model")
	}
	return err
}

func (c *applyCommand) applyEmbedded(ctx context.Context, p *program, at storePlace) error {
	err := eachOrphan(ctx, p, at, func(db *querydb.DB, o querydb.Orphan) error {
		if !c.AllowDelete {
			_, err := fmt.Fprintf(p.stdout, "%s is of no model, and stays without --allow-delete\n", o)
			return err
		}
		if err := db.DropOrphan(ctx, o); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "removed %s\n", o)
		return err
	})
	if err == nil {
		fmt.Fprintln(p.stdout, "done: the tables are as the models need them")
	}
	return err
}

// lookAroundMB is a cache that is enough to see which tables there are.
const lookAroundMB = 16

// eachOrphan calls f with every table in the store that no model has. No server may have the store open.
func eachOrphan(ctx context.Context, p *program, at storePlace, f func(*querydb.DB, querydb.Orphan) error) (err error) {
	if _, err := os.Stat(at.rows()); err != nil {
		return fmt.Errorf("open the store %s: %w", at, err)
	}
	db, err := openStore(ctx, at, lookAroundMB, &p.app, p.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := db.Orphans(ctx)
	if err != nil {
		return err
	}
	for _, o := range list {
		if err := f(db.DB, o); err != nil {
			return err
		}
	}
	return nil
}
