package graph_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph"
)

// TestAVariableHasTheDefaultOfTheOperationThatIsAsked: several operations may use a fragment, and each may have another
// default for a variable in it, or none.
func TestAVariableHasTheDefaultOfTheOperationThatIsAsked(t *testing.T) {
	a := newAPI(t)
	for i := range 3 {
		a.write(a.encode("Product", graph.TestRow{"productId": fmt.Sprint("p", i), "category": "c", "brand": "b", "name": "n",
			"price": float64(10 * i), "createdAt": time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC)}))
	}
	const fragment = `fragment P on Query { Sales_ProductByCategory(category: "c", filter: {price: {le: $max}}) { items {
		productId } } }`
	const all, cheap = `query All($max: Float) { ...P } `, `query Cheap($max: Float = 10) { ...P } `
	for way := range ways {
		for _, document := range []string{all + cheap + fragment, cheap + all + fragment} {
			for operation, want := range map[string]int{"All": 3, "Cheap": 2} {
				var data struct {
					Page struct{ Items []struct{ ProductID string } } `json:"Sales_ProductByCategory"`
				}
				a.askOperation(way, operation, document, nil, &data)
				if diff := cmp.Diff(want, len(data.Page.Items)); diff != "" {
					t.Errorf("by %s, %s of %s (-want +got)\n%s", way, operation, document, diff)
				}
			}
		}
	}
}
