package main

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Two models that share a table, described as generated code does: people and their tasks, which lie together in the
// collection of a tenant.
var (
	tenantsTable = &querydb.SharedTable{
		Name: "Tenants", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
		Indexes: []querydb.SharedIndex{
			{Name: "gsi1", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
		},
	}
	personModel = memberOf("Person")
	taskModel   = memberOf("Task")

	tenantMembers = &querydb.Collection{
		Name: "TenantMembers", Table: tenantsTable,
		Members: []querydb.CollectionMember{{Model: personModel}, {Model: taskModel}},
	}
)

// memberOf is a model whose rows have an id, the tenant that they belong to, and a text.
func memberOf(name string) *querydb.Model {
	primary := keyOf(name)
	together := primary
	together.Collection, together.Clustered = []string{"tenantMembers"}, true
	id, tenant := keys.Segment{Field: "id", Kind: keys.KindString}, keys.Segment{Field: "tenantId", Kind: keys.KindString}
	return &querydb.Model{
		Name: name, Table: tenantsTable.Name, Version: "1",
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "tenantId", Scalar: "ID"},
			{Name: "text", Scalar: "String"}},
		PK: querydb.Half{Layout: primary.PK(id), Fields: []int{0}},
		SK: querydb.Half{Layout: primary.SK()},
		Indexes: []querydb.Index{{Name: "tenantMembers", PK: querydb.Half{Layout: together.PK(tenant), Fields: []int{1}},
			SK: querydb.Half{Layout: together.SK(id), Fields: []int{0}}}},
		TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Entity: &querydb.Entity{Table: tenantsTable, Kind: name, PhysicalIndexes: []int{0}},
	}
}

func keyOf(name string) keys.EntityKey {
	return keys.EntityKey{
		Schema: keys.EntitySchema{Name: "work", Version: 1, Casing: keys.CasingLower}, Type: name, Casing: keys.CasingLower,
	}
}

// memberRow is a row of one of the models.
type memberRow struct{ id, tenant, text string }

func codecOf(m *querydb.Model) *querydb.Codec[memberRow] {
	return &querydb.Codec[memberRow]{
		Model: m,
		Encode: func(b *record.Builder, r *memberRow) {
			b.String(r.id)
			b.String(r.tenant)
			b.String(r.text)
		},
		Value: func(r *memberRow, field int) keys.Value { return keys.String([]string{r.id, r.tenant, r.text}[field]) },
	}
}

// tenantRows are so many rows of each model for each tenant.
func tenantRows(tenants, each int) ([]querydb.Write, error) {
	var b record.Builder
	var list []querydb.Write
	for _, m := range []*querydb.Model{personModel, taskModel} {
		codec := codecOf(m)
		for i := range tenants * each {
			row, err := querydb.Encode(codec, &b, &memberRow{
				id: fmt.Sprintf("%s-%06d", m.Name, i), tenant: tenantID(i % tenants),
				text: "what there is to say about it, at some length",
			})
			if err != nil {
				return nil, err
			}
			list = append(list, querydb.Write{Model: m, Row: row})
		}
	}
	return list, nil
}

func tenantID(n int) string { return fmt.Sprintf("Tenant-%d", n) }
