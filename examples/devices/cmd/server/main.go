// Command server serves what the events of devices, assets and vehicles fold into.
package main

//go:generate go tool foldql generate

import (
	_ "embed"

	"github.com/foldql/foldql/server"

	"example.com/devices/event"
	"example.com/devices/graph"
	"example.com/devices/graph/generated"
	"example.com/devices/model"
	"example.com/devices/projection/devices"
)

// examples are the queries in the first tab of GraphiQL.
//
//go:embed examples.graphql
var examples string

func main() { server.Main(app()) }

// app is what makes the program this project's.
func app() server.App {
	return server.App{
		Models:      model.All,
		Events:      event.Types,
		Projections: devices.Projections(),
		Catalog:     generated.Catalog,
		Schema:      graph.Schema,
		SDL:         generated.SDL(),
		Examples:    examples,
	}
}
