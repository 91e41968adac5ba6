// Command server serves the ledger, whose rows are there to be broken.
package main

//go:generate go run ../../../../../../cmd/foldql generate

import (
	"os"

	"github.com/foldql/foldql/server"

	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/graph"
	"github.com/foldql/foldql/internal/tests/crash/ledger/graph/generated"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/crash/ledger/release"
)

// A release has a version of its own of each model.
func main() {
	if name := os.Getenv("LEDGER_RELEASE"); name != "" {
		release.Apply(name, model.All)
	}
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: ledger.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
	})
}
