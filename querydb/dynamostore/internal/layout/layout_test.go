package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
)

func describe(l Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s/%s %q\n", l.Table, l.PK, l.SK, l.Fields)
	for _, x := range l.Indexes {
		fmt.Fprintf(&b, "%s %s/%s %s %q\n", x.Name, x.PK, x.SK, x.Projection, x.NonKey)
	}
	return b.String()
}

func TestATableHasTheKeysAndAttributesThatItsModelNeeds(t *testing.T) {
	shared := func(t *driver.Table) *driver.Table {
		t.Kind, t.Keys = "task", driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"}
		t.Indexes[0].Keys = driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}
		t.Indexes[0].AlwaysSorted = true
		return t
	}
	tests := map[string]struct {
		table *driver.Table
		want  string
	}{
		"a key of one field each": {dynamotest.Tracking(),
			`p-OrderTracking id/changedAt ["orderId" "" "customerId" "status" "total" "note"]
customerId customerId/ ALL []
byStatus status/_byStatus_sk KEYS_ONLY []
byNote note/_byNote_sk INCLUDE ["total" "_own"]
`},
		"keys of the table in indexes, in a later generation": {dynamotest.Versions(),
			`p-Versions.g3 id/version ["id" "version" "kind"]
v-index _v_pk/ ALL []
byKind kind/version INCLUDE ["_expires"]
byIdAndKind _byIdAndKind_pk/version ALL []
`},
		"the notes": {&driver.Table{
			Name: "foldql", Sorted: true, NoExpiry: true, PK: []int{0}, SK: []int{1},
			Fields: []driver.Field{{Name: "kind", Scalar: "String"}, {Name: "id", Scalar: "String"},
				{Name: "value", Scalar: "String"}},
		}, `p-foldql id/_subId ["kind" "" "value"]
`},
		"one row, and names that are taken": {&driver.Table{
			Name: "Count", NoExpiry: true,
			Fields: []driver.Field{{Name: "id", Scalar: "Int"}, {Name: "_rev", Scalar: "Int"}, {Name: "a", Scalar: "String",
				List: true}},
			Indexes: []driver.Index{{Name: "byRev", PK: []int{1}, SK: []int{2}, Projected: []int{0}}},
		}, `p-Count id/ ["" "" "a"]
byRev _byRev_pk/_byRev_sk INCLUDE ["_own"]
`},
		"a sort key of several fields": {&driver.Table{
			Name: "Lines", Sorted: true, NoExpiry: true, PK: []int{0}, SK: []int{1, 2},
			Fields: []driver.Field{{Name: "order", Scalar: "ID"}, {Name: "category", Scalar: "String"},
				{Name: "product", Scalar: "ID"}},
			Indexes: []driver.Index{
				{Name: "twice", PK: []int{1}, SK: []int{1}, Projected: []int{0, 1}},
				{Name: "several", PK: []int{1, 2}, Projected: []int{0, 1, 2}},
			},
		}, `p-Lines id/_subId ["order" "category" "product"]
twice category/_twice_sk KEYS_ONLY []
several _several_pk/ INCLUDE ["category" "product" "_own"]
`},
		"a table that models share": {shared(dynamotest.Tracking()),
			`p-OrderTracking pk/sk ["orderId" "changedAt" "customerId" "status" "total" "note"]
customerId gsi1pk/gsi1sk ALL []
byStatus _byStatus_pk/_byStatus_sk INCLUDE ["orderId" "status" "__edd_e__"]
byNote _byNote_pk/_byNote_sk INCLUDE ["orderId" "changedAt" "total" "note" "_own" "__edd_e__"]
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, describe(Of("p-", test.table))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoIndexHoldsWhatADeletedRowKeeps(t *testing.T) {
	for _, table := range []*driver.Table{dynamotest.Tracking(), dynamotest.Versions()} {
		l := Of("", table)
		for _, x := range l.Indexes {
			if l.IsKey(x.PK) && (x.SK == "" || l.IsKey(x.SK)) {
				t.Errorf("index %s of %s has no key attribute that a deleted row lacks", x.Name, l.Table)
			}
			if x.Projection == types.ProjectionTypeInclude && len(x.NonKey) == 0 {
				t.Errorf("index %s of %s includes nothing", x.Name, l.Table)
			}
		}
	}
}
