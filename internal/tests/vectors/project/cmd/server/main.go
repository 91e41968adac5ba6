// Command server serves the models of the vectors.
package main

//go:generate go run ../../../../../../cmd/foldql generate

import (
	"github.com/foldql/foldql/server"

	"github.com/foldql/foldql/internal/tests/vectors/project/event"
	"github.com/foldql/foldql/internal/tests/vectors/project/graph"
	"github.com/foldql/foldql/internal/tests/vectors/project/graph/generated"
	"github.com/foldql/foldql/internal/tests/vectors/project/model"
	"github.com/foldql/foldql/internal/tests/vectors/project/projection/projectors"
)

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: projectors.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
	})
}
