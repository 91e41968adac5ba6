// Package commands holds the commands of the server program beside `serve`: append, replay, rebuild, deadletters, log,
// backup, restore and tables, each with its flags.
//
// The commands of the events of a log are in package events below it.
//
// Some talk to a running server over HTTP (append), some work on a store themselves (replay, log, restore, tables), and
// some do either (rebuild, deadletters, backup): on a store where --store names one.
package commands

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// Program is what a command is given: the project's models, events and projections, and the environment of the process.
type Program struct {
	Models      []*querydb.Model
	Events      eventlog.Types
	Projections []projection.Projection
	Owned       []*querydb.Model // whose rows name an owner, and so say who may read

	Env    func(name string) (value string, ok bool)
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Log    *slog.Logger
	Given  []string // names of the flags on the command line
}

// OpenSource opens the source of events of a store.
func (p *Program) OpenSource(at config.Source, store config.Store, reserve uint64, maxEvent int) (*sources.Source,
	error) {
	return sources.Open(at, store, sources.Options{
		Reserve: reserve, MaxEventBytes: maxEvent, Stdin: p.Stdin, Types: p.Events, Logger: p.Log,
	})
}

// OpenStore opens the store of the rows.
func (p *Program) OpenStore(ctx context.Context, at config.Store, how *config.Data) (*stores.Rows, error) {
	return stores.Open(ctx, at, stores.Options{
		CacheBytes: how.CacheMB << 20, Reserve: how.Reserve(), Models: p.Models, Projections: p.Projections,
		Logger: p.Log,
	})
}

// remindOfTables prints what is to be done before models are rebuilt into a store in which no start creates tables.
func (p *Program) remindOfTables(db *querydb.DB) {
	if db.Tables().HasIDs() {
		fmt.Fprintln(p.Stdout, "run 'server tables apply' before that: it makes the tables that the rows are folded into")
	}
}
