package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/stores"
)

// tablesCommand makes the tables of a store in DynamoDB. An embedded store makes its tables by itself, and keeps those
// that no model has any more until it is told that it can do without.
type tablesCommand struct {
	Plan  planCommand  `cmd:"" help:"Print what would be created, changed or removed, and what it costs; change nothing."`
	Apply applyCommand `cmd:"" help:"Create, change and, where told to, remove tables until they are as the models need them. It may be repeated."`
}

// tablesPlace is the store whose tables are meant.
type tablesPlace struct {
	Store       string `help:"Where rows are kept: dynamodb:PREFIX or embedded:DIR." required:"" group:"Data"`
	AllowDelete bool   `help:"Also remove tables that are not needed any more, and indexes that must be recreated."`
}

type planCommand struct{ tablesPlace }

type applyCommand struct {
	tablesPlace
	NotesLost bool `help:"The table of notes, of a store in DynamoDB, is lost for good: rebuild into other tables than those whose rows nothing is on record of."`
}

// Run prints the plan.
func (c *planCommand) Run(ctx context.Context, p *program) (err error) {
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
		fmt.Fprintln(p.stdout, step)
	}
	for _, remark := range plan.Remarks {
		fmt.Fprintln(p.stdout, remark)
	}
	if err := s.tellRebuilds(ctx, p); err != nil {
		return err
	}
	switch {
	case len(plan.Wrong) > 0:
		return fmt.Errorf("this cannot be done:\n%s", strings.Join(plan.Wrong, "\n"))
	case unrecorded != nil:
		return unrecorded
	case len(plan.Steps) == 0:
		fmt.Fprintln(p.stdout, "there is nothing to do: the tables are as the models need them")
	default:
		fmt.Fprintf(p.stdout, "%d steps, none of which is done yet: 'server tables apply' takes them\n", len(plan.Steps))
	}
	return nil
}

// Run carries the plan out. The table of notes comes first: it says which tables are needed beside it.
func (c *applyCommand) Run(ctx context.Context, p *program) (err error) {
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
	tell := func(step string) { fmt.Fprintln(p.stdout, step) }
	if err := s.unrecorded(ctx); err != nil && !c.NotesLost {
		return err
	}
	if err := s.ApplyTables(ctx, dynamostore.Tables{Needed: []*driver.Table{querydb.NotesTable()}}, false,
		tell); err != nil {
		return err
	}
	if c.NotesLost {
		if err := s.passOver(ctx, p); err != nil {
			return err
		}
	}
	known, err := s.survey(ctx)
	if err != nil {
		return err
	}
	if err := s.ApplyTables(ctx, known, c.AllowDelete, tell); err != nil {
		return err
	}
	if c.AllowDelete {
		if err := s.forget(ctx, known.Former); err != nil {
			return err
		}
	}
	fmt.Fprintln(p.stdout, "done: the tables are as the models need them")
	return nil
}

// tables are those of a store, which need not be there yet.
type tables struct {
	*dynamostore.Store
	app *App
	cfg querydb.Config
}

func (c *tablesPlace) open(ctx context.Context, p *program, at config.Store) (*tables, error) {
	if at.Kind != config.DynamoDB {
		return nil, config.Wrong("store", "%s keeps no tables; name those in DynamoDB, as dynamodb:PREFIX, or those of "+
			"embedded:DIR", at)
	}
	at.Dynamo.Log = p.log
	drv, err := dynamostore.Open(ctx, at.Dynamo)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	return &tables{Store: drv, app: &p.app, cfg: querydb.Config{Log: p.log}}, nil
}

// survey reads which tables are needed, and which are not any more.
func (s *tables) survey(ctx context.Context) (known dynamostore.Tables, err error) {
	there, err := s.Exists(ctx, querydb.NotesTable())
	if err != nil {
		return known, err
	}
	if !there {
		return dynamostore.Tables{Needed: stores.FirstTables(s.app.Models)}, nil
	}
	db, err := querydb.Open(ctx, s.Store, s.app.Models, s.cfg)
	if err != nil {
		return known, err
	}
	if known.Needed, err = stores.NeededTables(ctx, db, s.app.Models, s.app.Projections); err != nil {
		return known, err
	}
	known.Former, err = db.FormerGenerations(ctx)
	return known, err
}

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
	db, err := querydb.Open(ctx, s.Store, s.app.Models, s.cfg)
	if err != nil {
		return err
	}
	for _, one := range s.app.Projections {
		if err := projection.CheckTarget(ctx, db, one); err != nil {
			return err
		}
	}
	return nil
}

// withoutNotes refuses to make the table of notes beside rows: nothing would say how far they are, nor what was decided
// about events.
func (s *tables) withoutNotes(ctx context.Context) error {
	var all []*driver.Table
	for _, m := range s.app.Models {
		all = append(all, querydb.TableOf(m, 0))
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

// passOver rebuilds into other tables where those that are next hold rows that nothing is on record of.
func (s *tables) passOver(ctx context.Context, p *program) error {
	db, err := querydb.Open(ctx, s.Store, s.app.Models, s.cfg)
	if err != nil {
		return err
	}
	for _, one := range s.app.Projections {
		err := projection.CheckTarget(ctx, db, one)
		var unrecorded *querydb.UnrecordedError
		if errors.As(err, &unrecorded) {
			fmt.Fprintf(p.stdout, "the rows in table %s are left: the next start has projection %s rebuild from the whole log\n",
				unrecorded.Table, one.Name)
			err = projection.RequestRebuild(ctx, db, one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tellRebuilds prints which projections a start would have rebuild from the whole log.
func (s *tables) tellRebuilds(ctx context.Context, p *program) error {
	there, err := s.Exists(ctx, querydb.NotesTable())
	if err != nil || !there {
		return err
	}
	db, err := querydb.Open(ctx, s.Store, s.app.Models, s.cfg)
	if err != nil {
		return err
	}
	_, err = tellRebuilds(ctx, p, db)
	return err
}

// tellRebuilds prints which projections a start would have rebuild from the whole log, and returns how many.
func tellRebuilds(ctx context.Context, p *program, db *querydb.DB) (n int, err error) {
	for _, one := range p.app.Projections {
		why, err := projection.RebuildReason(ctx, db, one)
		if err != nil {
			return n, fmt.Errorf("look whether %s is to be rebuilt: %w", one.Name, err)
		}
		if why == "" {
			continue
		}
		n++
		fmt.Fprintf(p.stdout, "a start has projection %s rebuild from the whole log: %s\n", one.Name, why)
	}
	return n, nil
}

// forget takes former generations off the record that are removed.
func (s *tables) forget(ctx context.Context, former []*driver.Table) error {
	db, err := querydb.Open(ctx, s.Store, s.app.Models, s.cfg)
	if err != nil {
		return err
	}
	for _, t := range former {
		if err := db.RecordDropped(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// tellOfTables says what is to be done before models are rebuilt into a store in which no start makes tables.
func (p *program) tellOfTables(db *querydb.DB) {
	if db.HasTableIDs() {
		fmt.Fprintln(p.stdout, "run 'server tables apply' before that: it makes the tables that the rows are folded into")
	}
}
