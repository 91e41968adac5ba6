package schema

import "github.com/99designs/gqlgen/codegen/templates"

// GoName is the Go name of a GraphQL name, as gqlgen makes it: customerId becomes CustomerID.
func GoName(name string) string { return templates.ToGo(name) }

// GoConst is the Go name of an enum's value: PLACED of OrderStatus becomes OrderStatusPlaced.
func GoConst(enum, value string) string { return GoName(enum) + GoName(value) }
