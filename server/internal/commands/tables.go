package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/projections"
)

// Tables makes the tables of a store in DynamoDB. An embedded store makes its tables by itself, and keeps those
// that no model uses any more until an operator removes them.
type Tables struct {
	Plan  planCommand  `cmd:"" help:"Print what apply would create, change or remove, and what it costs; change nothing."`
	Apply applyCommand `cmd:"" help:"Create and change tables, and remove them with --allow-delete, until they fit the models. It may be repeated."`
}

// tablesOptions name the store, and say what may happen to its tables.
type tablesOptions struct {
	Store       string `help:"Where rows are kept: dynamodb:PREFIX or embedded:DIR." required:"" group:"Data"`
	AllowDelete bool   `help:"Also remove tables that are no longer needed, and indexes that must be recreated."`
}

type planCommand struct{ tablesOptions }

type applyCommand struct {
	tablesOptions
	NotesLost bool `help:"Confirm that the table of notes in DynamoDB is lost for good and has no backup: keep the present rows, create a new table of notes, and have the next start rebuild every model into new tables."`
}

// Run prints the plan.
func (c *planCommand) Run(ctx context.Context, p *Program) (err error) {
	at, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	if at.Kind == config.Embedded {
		return c.planEmbedded(ctx, p, at)
	}
	s, err := c.open(ctx, p, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	known, err := s.survey(ctx)
	if err != nil {
		return err
	}
	unrecorded := s.unrecorded(ctx)
	plan, err := s.Plan(ctx, known, c.AllowDelete)
	if err != nil {
		return err
	}
	for _, step := range plan.Steps {
		fmt.Fprintln(p.Stdout, step)
	}
	for _, table := range plan.Kept {
		fmt.Fprintf(p.Stdout, "%s: --allow-delete removes it, when no server uses it any more\n", table)
	}
	if err := s.printRebuilds(ctx); err != nil {
		return err
	}
	switch {
	case len(plan.Wrong) > 0:
		return fmt.Errorf("this cannot be done:\n%w", errors.Join(plan.Wrong...))
	case unrecorded != nil:
		return unrecorded
	case len(plan.Steps) == 0:
		fmt.Fprintln(p.Stdout, "there is nothing to do: the tables are as the models need them")
	default:
		fmt.Fprintf(p.Stdout, "%d steps, none of which is done yet: 'server tables apply' takes them\n", len(plan.Steps))
	}
	return nil
}

// Run carries the plan out. The table of notes comes first: it says which tables are needed beside it.
func (c *applyCommand) Run(ctx context.Context, p *Program) (err error) {
	at, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	if at.Kind == config.Embedded && c.NotesLost {
		return config.Wrong("notes-lost", "%s keeps notes and rows together; give it for a store in DynamoDB", at)
	}
	if at.Kind == config.Embedded {
		return c.applyEmbedded(ctx, p, at)
	}
	s, err := c.open(ctx, p, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	show := func(step string) { fmt.Fprintln(p.Stdout, step) }
	if err := s.unrecorded(ctx); err != nil && !c.NotesLost {
		return err
	}
	if err := s.ApplyTables(ctx, dynamostore.Tables{Needed: []*driver.Table{querydb.NotesTable()}}, false,
		show); err != nil {
		return err
	}
	if c.NotesLost {
		if err := s.rebuildElsewhere(ctx); err != nil {
			return err
		}
	}
	known, err := s.survey(ctx)
	if err != nil {
		return err
	}
	if err := s.ApplyTables(ctx, known, c.AllowDelete, show); err != nil {
		return err
	}
	if c.AllowDelete {
		if err := s.recordDropped(ctx, known.Former); err != nil {
			return err
		}
	}
	fmt.Fprintln(p.Stdout, "done: the tables are as the models need them")
	return nil
}

// printRebuilds prints which projections a start would rebuild from the whole log, and of which the code has changed.
// It returns how many these are.
func printRebuilds(ctx context.Context, p *Program, db *querydb.DB) (n int, err error) {
	for _, one := range p.Projections {
		why, err := projection.RebuildReason(ctx, db, one)
		if err != nil {
			return n, fmt.Errorf("find out whether %s is to be rebuilt: %w", one.Name, err)
		}
		if why == "" {
			changed, err := projection.CodeChanged(ctx, db, one)
			if err != nil {
				return n, fmt.Errorf("find out whether the code of %s has changed: %w", one.Name, err)
			}
			if changed {
				n++
				fmt.Fprintf(p.Stdout, "a start rebuilds nothing of projection %s, but %s\n", one.Name,
					projections.CodeChanged(&one))
			}
			continue
		}
		n++
		copies, err := projection.CopiesRows(ctx, db, one)
		if err != nil {
			return n, fmt.Errorf("find out how %s is to be rebuilt: %w", one.Name, err)
		}
		if copies {
			fmt.Fprintf(p.Stdout, "a start builds the indexes of projection %s from its rows: %s\n", one.Name, why)
			continue
		}
		fmt.Fprintf(p.Stdout, "a start rebuilds projection %s from the whole log: %s\n", one.Name, why)
	}
	return n, nil
}
