// Command server serves what the events of a blog fold into.
package main

//go:generate go tool foldql generate

import (
	_ "embed"

	"github.com/foldql/foldql/server"

	"example.com/blog/event"
	"example.com/blog/graph"
	"example.com/blog/graph/generated"
	"example.com/blog/model"
	"example.com/blog/projection/blog"
)

// examples are the queries in the first tab of GraphiQL.
//
//go:embed examples.graphql
var examples string

func main() {
	server.Main(server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: blog.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
	})
}
