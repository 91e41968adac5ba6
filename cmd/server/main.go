// Command server serves the read models of this repository, the shop.
package main

import (
	_ "embed"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/server"
)

// examples is what GraphiQL shows first.
//
//go:embed examples.graphql
var examples string

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: projectors.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
		Sample:      sample.Events(sample.Small),
	})
}
