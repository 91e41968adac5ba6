// Command server serves the read models of this repository, the shop.
package main

import (
	_ "embed"

	"github.com/foldql/foldql/event"
	"github.com/foldql/foldql/graph/generated"
	"github.com/foldql/foldql/model"
	"github.com/foldql/foldql/projection/shop"
	"github.com/foldql/foldql/projection/shop/sample"
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
		Projections: shop.Projections(),
		Catalog:     generated.Catalog,
		Schema:      generated.New,
		SDL:         generated.SDL(),
		Examples:    examples,
		Sample:      sample.Events(sample.Small),
	})
}
