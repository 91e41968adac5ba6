// Command server serves what the events of a package registry fold into.
package main

//go:generate go tool foldql generate

import (
	_ "embed"

	"github.com/foldql/foldql/server"

	"example.com/registry/event"
	"example.com/registry/graph"
	"example.com/registry/graph/generated"
	"example.com/registry/model"
	"example.com/registry/projection/registry"
)

// examples are the queries in the first tab of GraphiQL.
//
//go:embed examples.graphql
var examples string

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: registry.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
	})
}
