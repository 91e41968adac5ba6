// Command server serves what the events of companies that plan their projects fold into.
package main

//go:generate go tool foldql generate

import (
	_ "embed"

	"github.com/foldql/foldql/server"

	"example.com/tenants/data"
	"example.com/tenants/event"
	"example.com/tenants/graph"
	"example.com/tenants/graph/generated"
	"example.com/tenants/model"
	"example.com/tenants/projection/tenants"
)

// examples are the queries in the first tab of GraphiQL.
//
//go:embed examples.graphql
var examples string

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: tenants.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
		Sample:      data.Sample,
	})
}
