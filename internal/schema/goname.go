package schema

import "github.com/99designs/gqlgen/codegen/templates"

// GoName is the Go name of a GraphQL name, as gqlgen makes it: customerId becomes CustomerID.
func GoName(name string) string { return templates.ToGo(name) }

// GoConst is the Go name of an enum's value: PLACED of OrderStatus becomes OrderStatusPlaced.
func GoConst(enum, value string) string { return GoName(enum) + GoName(value) }

// HasKeyType reports whether the keys of a model's rows have a Go type of their own: they have several fields. A
// history has that of its model.
func HasKeyType(m *ReadModel) bool { return m.SeriesOf == nil && len(Composites(m.PK, m.SK)) > 1 }

// HasPartitionType reports whether a model's partition keys have a Go type of their own. An aggregate has a partition
// to itself.
func HasPartitionType(m *ReadModel) bool {
	return m.SeriesOf == nil && m.Aggregate == nil && len(m.PK.Fields) > 1
}
