package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
)

// An embedded store makes tables by itself. What an operator decides about are those that no model has any more.

func (c *planCommand) planEmbedded(ctx context.Context, p *Program, at config.Store) error {
	return inEmbedded(ctx, p, at, func(db *querydb.DB) error {
		list, err := orphans(ctx, p, db)
		if err != nil {
			return err
		}
		for _, o := range list {
			fmt.Fprintf(p.Stdout, "%s belongs to no model: --allow-delete removes it\n", o)
		}
		rebuilds, err := c.printStarts(ctx, p, db)
		if err == nil && len(list)+rebuilds == 0 {
			fmt.Fprintln(p.Stdout, "there is nothing to do: every table is that of a model")
		}
		return err
	})
}

func (c *applyCommand) applyEmbedded(ctx context.Context, p *Program, at config.Store) error {
	return inEmbedded(ctx, p, at, func(db *querydb.DB) error {
		list, err := orphans(ctx, p, db)
		if err != nil {
			return err
		}
		for _, o := range list {
			if !c.AllowDelete {
				fmt.Fprintf(p.Stdout, "%s belongs to no model, and stays without --allow-delete\n", o)
				continue
			}
			if err := db.Tables().DropOrphan(ctx, o); err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout, "removed %s\n", o)
		}
		fmt.Fprintln(p.Stdout, "done: the tables are as the models need them")
		return nil
	})
}

// orphans are the tables that no model has any more. It prints which are none of them because they serve until models
// have rows in their own tables, or served before these and can again.
func orphans(ctx context.Context, p *Program, db *querydb.DB) (list []querydb.Orphan, err error) {
	found, err := projection.LookUp(ctx, db, p.Projections)
	if err != nil {
		return nil, err
	}
	all, err := db.Tables().Orphans(ctx)
	if err != nil {
		return nil, err
	}
	kept := keptElsewhere(found)
	for _, o := range all {
		if why, is := kept[o]; is {
			fmt.Fprintf(p.Stdout, "%s %s\n", o, why)
		} else {
			list = append(list, o)
		}
	}
	return list, nil
}

// keptElsewhere says why generations of tables that models had before are kept.
func keptElsewhere(found []projection.Generations) map[querydb.Orphan]string {
	kept := map[querydb.Orphan]string{}
	for i := range found {
		if former := found[i].Former; former != nil && !found[i].Since.IsZero() {
			for _, t := range former.Tables {
				kept[querydb.Orphan{Table: t.Table, Generation: t.Generation}] = "is kept for 'server rebuild rollback', " +
					"as long as --keep-former of the server says"
			}
		}
		for _, s := range found[i].ServesElsewhere() {
			kept[querydb.Orphan{Table: s.Layout.Table(), Generation: s.Generation}] = fmt.Sprintf(
				"serves as the rows of %s until a server has built others in table %s", s.Model.Name, s.Model.Table)
		}
	}
	return kept
}

// surveyCacheMB is a cache that is enough to see which tables there are.
const surveyCacheMB = 16

// inEmbedded calls f with the store. No server may have it open.
func inEmbedded(ctx context.Context, p *Program, at config.Store, f func(*querydb.DB) error) (err error) {
	if err := checkPart(at.Rows(), nameByStore); err != nil {
		return fmt.Errorf("open the store %s: %w", at, err)
	}
	db, err := p.OpenStore(ctx, at, &config.Data{CacheMB: surveyCacheMB, ReserveMB: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db.DB)
}
