// Package server is foldql's server as a library: its commands, its configuration, its HTTP API, and the order in which
// its parts start and end.
//
// The main function of a project is one call of [Main] with its [App], most of which is generated. Main reads the
// command line, the environment and the configuration file, runs one command (serve, replay, append, events,
// deadletters, rebuild, log, tables, …) and exits: 0 on success, 1 on failure, 2 on wrong usage.
//
// [Embed] runs the same server inside another program, which opens the store and the source of events itself; see the
// examples.
//
// What a server promises:
//
//   - It binds its port before it opens a store or folds an event. While a changed model is rebuilt, its former rows
//     go on serving, and what they do not have is REBUILDING. Rows that are half built are never answered from: where
//     there are no others, a query is UNAVAILABLE, with the progress.
//   - /readyz says yes only while every projection is within --ready-lag of its source, or its rows wait for those that
//     are built beside them, and the store answers.
//   - An event is acknowledged when it is durable, and folded once, whenever the process ends.
//   - Where an answer could be wrong, it is an error with a stable code that says what to do.
//
// docs/operations/reference.md lists all options, metrics and endpoints.
package server

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/signal"
	"syscall"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/config"
)

// App is what is specific to a project: its read models, events, projections and API, mostly generated.
type App struct {
	Models      []*querydb.Model
	Events      eventlog.Types // the declared event types
	Projections []projection.Projection
	Catalog     *catalog.Catalog
	// Schema makes the executable schema over a runtime: graph.Schema, of the project's own package graph.
	Schema func(*graph.Runtime) graphql.ExecutableSchema
	// SDL is the printed schema of the API.
	SDL string
	// Examples is what GraphiQL shows in its first tab.
	Examples string
	// Sample yields events that `serve --sample` appends to an empty log; nil for none.
	Sample iter.Seq[eventlog.Event]
}

// check refuses an app that lacks its API, of which the project's package graph and graph/generated have the parts.
func (a *App) check() error {
	var missing []error
	if a.Catalog == nil {
		missing = append(missing, errors.New("App.Catalog is nil: give generated.Catalog"))
	}
	if a.Schema == nil {
		missing = append(missing, errors.New("App.Schema is nil: give graph.Schema, of the project's own package graph"))
	}
	if len(missing) == 0 {
		return nil
	}
	return config.Error{Err: errors.Join(missing...)}
}

// owned are the models whose rows name an owner.
func (a *App) owned() (models []*querydb.Model) {
	if a.Catalog == nil {
		return nil
	}
	for _, t := range a.Catalog.Types {
		if t.Owner >= 0 {
			models = append(models, t.Model)
		}
	}
	return models
}

// Main runs the program with the arguments, the environment and the streams of the process, and ends the process. The
// first SIGINT or SIGTERM drains; the second ends the process at once.
func Main(app App) {
	p := newProgram(app, commands.Program{
		Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	p.args, p.vars = os.Args[1:], os.Environ()
	os.Exit(p.run(untilSignal()))
}

// untilSignal returns a context that the first signal ends.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitFailed)
	}()
	return ctx
}
