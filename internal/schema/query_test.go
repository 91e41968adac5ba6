package schema

import (
	"slices"
	"testing"
)

// TestQueriesAreNamedAfterKeyAndIndexes as frontends rely on.
func TestQueriesAreNamedAfterKeyAndIndexes(t *testing.T) {
	field := func(name string) Half { return Half{Fields: []*Field{{Name: name, Scalar: "String"}}} }
	for _, tt := range []struct {
		model *ReadModel
		want  []string
	}{
		{&ReadModel{Name: "Count"}, []string{"Count"}},
		{&ReadModel{Name: "Count", Plugin: "Sales"}, []string{"Sales_Count"}},
		{&ReadModel{Name: "Order", PK: field("orderId"), SK: field("at")}, []string{"Order", "OrderByKeys", "OrderById"}},
		{
			&ReadModel{Name: "Order", PK: field("orderId"), SK: field("at"),
				Indexes: []*Index{{Name: "byKeys", PK: field("x")}}},
			[]string{"Order", "OrderById", "OrderByKeys"},
		},
		{
			&ReadModel{Name: "Order", Plugin: "Sales", PK: field("orderId"), Indexes: []*Index{
				{Name: "customerId", Unnamed: true, PK: field("customerId")},
				{Name: "byStatus", PK: field("status")},
				{Name: "bytes", Unnamed: true, PK: field("bytes")},
				{Name: "byline", PK: field("x")},
				{Name: "byLine", Unnamed: true, PK: field("byLine")},
				{Name: "status", PK: field("x")},
				{Name: "by", PK: field("x")},
				{Name: "by_it", PK: field("x")},
			}},
			[]string{
				"Sales_Order", "Sales_OrderByIds", "Sales_OrderByCustomerId", "Sales_OrderByStatus", "Sales_OrderByBytes",
				"Sales_OrderByByline", "Sales_OrderByByLine", "Sales_OrderByStatus", "Sales_OrderByBy", "Sales_OrderBy_it",
			},
		},
	} {
		var got []string
		for _, q := range tt.model.Queries() {
			got = append(got, q.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("queries %v, want %v", got, tt.want)
		}
	}
}

// TestAggregatesAreListedByTheirWholePartitionKey though a field of it can be null: no patch cuts their keys short, so
// no aggregate is in the index without one.
func TestAggregatesAreListedByTheirWholePartitionKey(t *testing.T) {
	season, league := &Field{Name: "season"}, &Field{Name: "league", Nullable: true}
	x := &Index{As: "bySeason", Casing: NoCasing, PK: Half{Fields: []*Field{season, league}}}
	id := &Field{Name: "id"}
	m := &ReadModel{Name: "Match", Entity: &Entity{}, PK: Half{Fields: []*Field{id}}, Indexes: []*Index{x}}
	for _, tt := range []struct {
		aggregate *Aggregate
		required  []*Field
	}{
		{nil, []*Field{season}},
		{&Aggregate{}, []*Field{season, league}},
	} {
		m.Aggregate = tt.aggregate
		queries := m.Queries()
		q := queries[len(queries)-1]
		if !slices.Equal(q.Required, tt.required) || len(q.Trailing) != 2-len(tt.required) {
			t.Errorf("aggregate %v: %s needs %q and may do without %q", tt.aggregate != nil, q.Name, FieldNames(q.Required),
				FieldNames(q.Trailing))
		}
	}
}

// TestTheFirstFieldOfAPartitionKeyIsAlwaysAskedFor though rows may have none: a query reads one partition.
func TestTheFirstFieldOfAPartitionKeyIsAlwaysAskedFor(t *testing.T) {
	account, fleet := &Field{Name: "accountId", Nullable: true}, &Field{Name: "fleetId", Nullable: true}
	x := &Index{PK: Half{Fields: []*Field{account, fleet}}}
	q := Query{Required: []*Field{account, fleet}}
	if q.split(x); !slices.Equal(q.Required, []*Field{account}) || !slices.Equal(q.Trailing, []*Field{fleet}) {
		t.Errorf("required are %q and may be left out %q", FieldNames(q.Required), FieldNames(q.Trailing))
	}
}
