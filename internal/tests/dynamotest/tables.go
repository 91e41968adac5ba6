// Package dynamotest has the tables and rows of the tests of querydb/dynamostore, and prints items and expressions.
package dynamotest

import (
	"slices"

	"github.com/foldql/foldql/querydb/driver"
)

// Everything has a field of every type, an object of them, and lists.
var Everything = func() *driver.Table {
	t := &driver.Table{Name: "Everything", PK: []int{0}}
	for _, scalar := range []string{"ID", "String", "Boolean", "Int", "Int64", "Float", "Decimal", "Date", "DateTime"} {
		t.Fields = append(t.Fields, driver.Field{Name: "f" + scalar, Scalar: scalar, Nullable: true},
			driver.Field{Name: "l" + scalar, Scalar: scalar, List: true, Nullable: true})
	}
	t.Fields[0].Nullable = false
	t.Fields = append(t.Fields, driver.Field{Name: "_x", Scalar: "Float"}, driver.Field{Name: "id", Scalar: "Int",
		List: true})
	inner := driver.Field{Name: "inner", Nullable: true, Object: slices.Clone(t.Fields[1:])}
	t.Fields = append(t.Fields,
		driver.Field{Name: "object", Nullable: true, Object: append(slices.Clone(t.Fields), inner)},
		driver.Field{Name: "objects", List: true, Object: []driver.Field{inner, {Name: "text", Scalar: "String"}}})
	t.Indexes = []driver.Index{
		{Name: "byString", PK: []int{2}, SK: []int{14}, Projected: []int{0, 2, 10, 12}},
		{Name: "byFloat", PK: []int{10}, SK: []int{2}, Projected: []int{0, 18, 19}},
	}
	return t
}()

// Tracking is a table with most of what a layout has to deal with: the key is of one field, the sort key a date-time.
func Tracking() *driver.Table {
	return &driver.Table{
		Name: "OrderTracking", Sorted: true, NoExpiry: true,
		Fields: []driver.Field{
			{Name: "orderId", Scalar: "ID"}, {Name: "changedAt", Scalar: "DateTime"}, {Name: "customerId", Scalar: "ID"},
			{Name: "status", Scalar: "String"}, {Name: "total", Scalar: "Float"}, {Name: "note", Scalar: "String",
				Nullable: true},
		},
		PK: []int{0}, SK: []int{1},
		Indexes: []driver.Index{
			{Name: "customerId", PK: []int{2}},
			{Name: "byStatus", PK: []int{3}, SK: []int{1}, Projected: []int{0, 3}},
			{Name: "byNote", PK: []int{5}, SK: []int{4}, Projected: []int{0, 1, 4, 5}},
		},
	}
}

// Versions is a table whose sort key is a text, and whose indexes are made of keys of the table.
func Versions() *driver.Table {
	return &driver.Table{
		Name: "Versions", Generation: 3, Sorted: true,
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "version", Scalar: "String"},
			{Name: "kind", Scalar: "String", Enum: "Kind"}},
		PK: []int{0}, SK: []int{1},
		Indexes: []driver.Index{
			{Name: "v", PK: []int{1}},
			{Name: "byKind", PK: []int{2}, SK: []int{1}, Projected: []int{0, 1, 2}},
			{Name: "byIdAndKind", PK: []int{0, 2}, SK: []int{1}},
		},
	}
}

// Orders are rows under (id, changedAt) with two indexes, one of which projects a field.
func Orders(generation int) *driver.Table {
	return &driver.Table{
		Name: "Orders", Generation: generation, Sorted: true, NoExpiry: true,
		Fields: []driver.Field{
			{Name: "orderId", Scalar: "ID"}, {Name: "changedAt", Scalar: "String"},
			{Name: "status", Scalar: "String"}, {Name: "note", Scalar: "String"}, {Name: "count", Scalar: "Int"},
		},
		PK: []int{0}, SK: []int{1},
		Indexes: []driver.Index{
			{Name: "byStatus", PK: []int{2}, SK: []int{1}, Projected: []int{0, 3}},
			{Name: "byNote", PK: []int{3}},
		},
	}
}

// Small is a table of one field beside its key.
var Small = &driver.Table{
	Name: "Small", Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "total", Scalar: "Int"}}, PK: []int{0},
}

// Device is a table whose rows two writers have, each a number that DynamoDB may have no room for.
var Device = &driver.Table{
	Name: "Device", PK: []int{0},
	Fields: []driver.Field{
		{Name: "deviceId", Scalar: "ID"}, {Name: "status", Scalar: "String", Nullable: true},
		{Name: "load", Scalar: "Decimal", Nullable: true}, {Name: "owner", Scalar: "String", Nullable: true},
		{Name: "price", Scalar: "Decimal", Nullable: true},
	},
	Indexes: []driver.Index{{Name: "byOwner", PK: []int{3}, SK: []int{1}}},
}

// What each of the two writers of Device writes; PartOf has it by the name of the writer.
var (
	Telemetry = &driver.Part{Fields: []int{1, 2}, SK: []int{0}}
	Ownership = &driver.Part{Fields: []int{3, 4}, PK: []int{0}, Expires: true}
	PartOf    = map[string]*driver.Part{"telemetry": Telemetry, "ownership": Ownership}
)

// Account has a unique index.
var Account = &driver.Table{
	Name: "Account", Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "email", Scalar: "String",
		Nullable: true}}, PK: []int{0},
	Indexes: []driver.Index{{Name: "byEmail", PK: []int{1}, Unique: true}},
}

// Prioritised are tasks of a table whose index has the table's own partition key.
func Prioritised() *driver.Table {
	return &driver.Table{
		Name: "Local", Sorted: true, NoExpiry: true, Kind: "task", Keys: driver.KeyNames{PK: "pk", SK: "sk",
			Kind: "__edd_e__"},
		Fields: []driver.Field{
			{Name: "projectId", Scalar: "ID"}, {Name: "taskId", Scalar: "ID"}, {Name: "priority", Scalar: "Int", Nullable: true},
		},
		PK: []int{0}, SK: []int{1},
		Indexes: []driver.Index{{Name: "lsi1", PK: []int{0}, SK: []int{2}, Keys: driver.KeyNames{PK: "pk", SK: "lsi1sk"}}},
	}
}
