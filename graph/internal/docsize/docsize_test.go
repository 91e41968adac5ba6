package docsize_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/foldql/foldql/graph/internal/docsize"
)

// TestADocumentTakesNoMoreThanItCounts, whatever it is mostly made of, and not much less.
func TestADocumentTakesNoMoreThanItCounts(t *testing.T) {
	for name, text := range map[string]string{
		"fields":             "{" + strings.Repeat(" f", 1000) + "}",
		"fields of fields":   "{" + strings.Repeat(" f { g }", 500) + "}",
		"arguments":          "{ f(" + strings.Repeat("a: 1 ", 1000) + ") }",
		"values of lists":    "{ f(a: [" + strings.Repeat("1 ", 2000) + "]) }",
		"lists of lists":     "{ f(a: [" + strings.Repeat("[1] ", 1000) + "]) }",
		"values of objects":  "{ f(a: {" + strings.Repeat("k: 1 ", 1000) + "}) }",
		"directives":         "{ f" + strings.Repeat(" @d", 1000) + " }",
		"their arguments":    "{ f" + strings.Repeat(" @d(a: true)", 500) + " }",
		"variables":          "query(" + strings.Repeat("$v: T ", 1000) + ") { f }",
		"variables of lists": "query(" + strings.Repeat("$v: [T!]! = [1] ", 500) + ") { f }",
		"operations":         strings.Repeat("query q { f } ", 300),
		"fragments":          "{ f }" + strings.Repeat(" fragment a on T { f }", 300),
		"spread fragments":   "{" + strings.Repeat(" ...a", 1000) + "}",
		"comments":           "{" + strings.Repeat("#\n", 4000) + " f }",
		"inline fragments":   "{" + strings.Repeat(" ... on T { f }", 500) + "}",
		"one query":          "query q($id: ID!) { T(id: $id) { id name items { id price } } }",
	} {
		const many = 50
		held := make([]*ast.QueryDocument, many)
		before := inUse()
		for i := range held {
			doc, err := parser.ParseQuery(&ast.Source{Input: fmt.Sprint(text, " # ", i)})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			held[i] = doc
		}
		took := int(inUse()-before) / many
		size := docsize.Of(held[0])
		if size < took || size > 4*took {
			t.Errorf("%s: counted as %d bytes, and took %d", name, size, took)
		}
		runtime.KeepAlive(held)
	}
}

// inUse is how many bytes are in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
