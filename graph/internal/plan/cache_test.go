package plan

import (
	"fmt"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// operation parses one of many operations.
func operation(t *testing.T, n int) (*ast.OperationDefinition, *ast.QueryDocument) {
	t.Helper()
	query := fmt.Sprintf("query q%d { Order(id: \"o%d\") { orderId customer { name } } }", n, n)
	doc, err := parser.ParseQuery(&ast.Source{Input: query})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Operations[0], doc
}

func TestPlanCacheKeepsToItsMemory(t *testing.T) {
	const limit = 160_000 // some twenty of the operations below
	cache := NewCache(limit)
	compile := func() (*Plan, int) { return &Plan{}, 1 }
	for range 3 {
		for i := range 100 {
			op, doc := operation(t, i)
			known := cache.Get(op, doc)
			made := cache.Plan(known, 0, compile)
			if cache.Get(op, doc) != known || cache.Plan(known, 0, compile) != made {
				t.Fatal("a plan is forgotten at once")
			}
			size := 0
			for _, generation := range []map[*ast.OperationDefinition]*Variants{cache.young, cache.old} {
				for _, p := range generation {
					size += p.size
				}
			}
			if size > limit {
				t.Fatalf("about %d bytes are kept, wanted at most %d", size, limit)
			}
		}
	}
}

func TestPlanCacheLeavesOutWhatIsTooLarge(t *testing.T) {
	cache := NewCache(1000)
	op, doc := operation(t, 1)
	if cache.Get(op, doc); len(cache.young) != 0 {
		t.Error("an operation is kept that takes more than an eighth of the memory")
	}
}
