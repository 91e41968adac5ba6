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
