package handwritten

import (
	"fmt"
	"strings"
	"testing"
)

// TestASignatureChangesOnlyWithTheSchema: names of parameters and spellings of types that a project has chosen stay
// until then, unless a parameter has the name of an argument in another place, or there are more or fewer of them.
// Names stay also where the former code is missing or does not parse.
func TestASignatureChangesOnlyWithTheSchema(t *testing.T) {
	const text = "package graph\n\nimport (\n\t\"context\"\n\n\t\"example.com/own/graph/generated\"\n)\n\n" +
		"func (r *%s) Find(%s) (%s, error) {\n\treturn nil, nil\n}\n"
	const generated = "package generated\n\nimport \"context\"\n\ntype %s interface {\n\tFind(%s) (%s, error)\n}\n"
	const asked, books = "ctx context.Context, from int, to int", "*generated.Books"
	const swapped = "ctx context.Context, to int, from int"
	for _, c := range []struct{ typ, was, result, former, formerResult, now, want string }{
		{"query", "ctx context.Context, low, high int", books, asked, "*Books", asked, "was"},
		{"query", "ctx context.Context, low, high Number", books, asked, "*Books", asked, "was"},
		{"query", "ctx context.Context, low, high int", "*OurBooks", asked, "*Books", asked, "was"},
		{"query", "ctx context.Context, to, from int", books, asked, "*Books", asked, "now"},
		{"query", "ctx context.Context, low int", books, asked, "*Books", asked, "now"},
		{"query", "ctx context.Context, low, high int", books, swapped, "*Books", asked, "now"},
		{"query", "ctx context.Context, low, high int", books, asked, "*Shelf", asked, "now"},
		{"query", "ctx context.Context, low, high int", books, "", "", asked, "was"},
		{"query", "ctx context.Context, low, high int", books, "<<<<<<< ours", "*Books", asked, "was"},
		{"query", "ctx context.Context, low, high Number", books, "", "", asked, "now"},
		{"query", "ctx context.Context, low, high int", "*OurBooks", "", "", asked, "now"},
		{"query", "ctx context.Context, to, from int", books, "", "", asked, "now"},
		{"query", "ctx context.Context, low int", books, "", "", asked, "now"},
		{"shelf", "ctx context.Context, s *generated.Shelf, n int", books, "ctx context.Context, obj *Shelf, by int",
			"*Books", "ctx context.Context, obj *generated.Shelf, by int", "was"},
		{"shelf", "ctx context.Context, s *generated.Shelf, n int", books, "", "",
			"ctx context.Context, obj *generated.Shelf, by int", "was"},
		{"shelf", "ctx context.Context, s *generated.Shelf, n int", books, "ctx context.Context, obj *Shelf, of int",
			"*Books", "ctx context.Context, obj *generated.Shelf, by int", "now"},
	} {
		w := Wanted{Stubs: fmt.Appendf(nil, text, c.typ+"Resolver", c.now, books), Names: guessed{}}
		if c.former != "" {
			name := map[string]string{"query": "QueryResolver", "shelf": "ShelfResolver"}[c.typ]
			w.Former = Former{"example.com/own/graph/generated",
				fmt.Appendf(nil, generated, name, c.former, c.formerResult)}
		}
		was := fmt.Sprintf(text, c.typ+"Resolver", c.was, c.result)
		got := mergeWanted(t, map[string]string{"schema.resolvers.go": was}, w)["schema.resolvers.go"]
		signature := fmt.Sprintf("Find(%s) (%s, error)", c.was, c.result)
		if stays := strings.Contains(got, signature); stays != (c.want == "was") {
			t.Errorf("where the schema wanted (%s) %s and wants (%s), %s becomes\n%s", c.former, c.formerResult, c.now,
				signature, got)
		}
	}
}
