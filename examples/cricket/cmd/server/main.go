// Command server serves what the events of cricket teams fold into.
package main

//go:generate go tool foldql generate

import (
	_ "embed"

	"github.com/foldql/foldql/server"

	"example.com/cricket/data"
	"example.com/cricket/event"
	"example.com/cricket/graph"
	"example.com/cricket/graph/generated"
	"example.com/cricket/model"
	"example.com/cricket/projection/cricket"
)

// examples are the queries in the first tab of GraphiQL.
//
//go:embed examples.graphql
var examples string

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: cricket.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
		Sample:      data.Sample,
	})
}
