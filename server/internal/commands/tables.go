package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/nextstart"
	"github.com/foldql/foldql/server/internal/plural"
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

type planCommand struct {
	tablesOptions
	Rates string `help:"Also write to this file how fast the projections were folded last, for 'foldql diff --rates'." type:"path" placeholder:"FILE"`
}

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
	if err := c.printStartsWith(ctx, s); err != nil {
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
		fmt.Fprintf(p.Stdout, "%s, of which none is done yet: 'server tables apply' does that\n",
			plural.Count(len(plan.Steps), "step"))
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

// printStartsWith is printStarts of the rows in the tables, if there are any.
func (c *planCommand) printStartsWith(ctx context.Context, s *tables) error {
	there, err := s.Exists(ctx, querydb.NotesTable())
	if err == nil && !there {
		return c.writeRates(map[string]rates.Forecast{})
	}
	if err != nil {
		return err
	}
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	_, err = c.printStarts(ctx, s.p, db)
	return err
}

// printStarts prints what a start would do with the rows, writes how fast they were folded last where that is asked
// for, and returns of how many projections there is something to do or to know.
func (c *planCommand) printStarts(ctx context.Context, p *Program, db *querydb.DB) (int, error) {
	n, all, err := nextstart.Print(ctx, p.Stdout, db, p.Projections)
	if err == nil {
		err = c.writeRates(all)
	}
	return n, err
}

// writeRates writes how fast projections were folded last, where that is asked for.
func (c *planCommand) writeRates(all map[string]rates.Forecast) error {
	if c.Rates == "" {
		return nil
	}
	return rates.WriteFile(c.Rates, all)
}
