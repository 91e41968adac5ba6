package server

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestResolversThatPanicLeaveNothingThatFolds, and the program may embed another server over the store.
func TestResolversThatPanicLeaveNothingThatFolds(t *testing.T) {
	var logged output
	app, log := newProject(false).App, memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), slices.Collect(taskEvents(1, 3))); err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := EmbedConfig{DB: db, Source: log, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
	panics := app
	panics.Schema = func(*graph.Runtime) graphql.ExecutableSchema { panic("the collector is registered already") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the resolvers is kept from the program")
			}
		}()
		_, _ = Embed(t.Context(), panics, cfg) // it does not return
	}()
	if text := logged.String(); strings.Contains(text, "projection starts") {
		t.Errorf("a projection has started: %s", text)
	}
	e, err := Embed(t.Context(), app, cfg)
	if err != nil {
		t.Fatalf("another server over the store: %v", err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Error(err)
	}
}
