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
)

// A release has a version of its own of each model.
func main() {
	if release := os.Getenv("LEDGER_RELEASE"); release != "" {
		for _, m := range model.All {
			m.Version, m.RowVersion = release+m.Version, release+m.RowVersion
		}
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
