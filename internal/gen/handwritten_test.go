package gen

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/tests/tool"
)

const ownSchema = `
type Query { topBooks(limit: Int!): [String!]! version: String! shelf: Shelf! }
type Shelf { name: String! ranked(by: String): String! }
`

// ownCode is what a project writes into the file of its resolvers, beside the bodies of the stubs.
const ownCode = `
// medals are given in this order.
const (
	gold = iota
	silver
)

/*
A note that belongs to nothing.
*/

// rank is a helper.
func rank(s string) string { return strings.ToUpper(s) + strconv.Itoa(rand.N(gold+silver)) } // loud

// By what is ranked.
type ranking struct{ by string }

func (r ranking) String() string { return r.by }

var _ fmt.Stringer = ranking{}

func init() { rank("once") }

// every is "*/5 * * * *" at noon.
const every = "*/5 12 * * *" /* inside */

type stack[T any] []T

func (s stack[T]) Len() int { return len(s) }
`

// TestHandwrittenResolversOutliveTheSchema: what generate does not know stays code, however often it runs, and whatever
// becomes of the fields.
func TestHandwrittenResolversOutliveTheSchema(t *testing.T) {
	dir := t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	schema, resolvers := filepath.Join(dir, "schema.graphqls"), filepath.Join(dir, "graph", "schema.resolvers.go")
	model := read(t, dir, "schema.graphqls")
	write(t, schema, model+ownSchema)
	generate(t, dir)
	text := read(t, dir, "graph/schema.resolvers.go")
	for old, now := range map[string]string{
		`panic(fmt.Errorf("not implemented: TopBooks - topBooks"))`: `return []string{rank("a book")}[:limit], nil // by hand`,
		`panic(fmt.Errorf("not implemented: Version - version"))`:   `return "one", nil`,
		`panic(fmt.Errorf("not implemented: Shelf - shelf"))`:       `return &model.Shelf{Name: "top"}, nil`,
		`panic(fmt.Errorf("not implemented: Ranked - ranked"))`:     `return ranking{*order}.String(), nil`,
		"by *string": "order *string",
		"import (":   "import (\n\t\"math/rand/v2\"\n\t\"strconv\"\n\t\"strings\"\n",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("no single %s in\n%s", old, text)
		}
		text = strings.Replace(text, old, now, 1)
	}
	write(t, resolvers, "// The books' own header.\n\n"+text+ownCode)
	again := func(want ...string) string {
		t.Helper()
		said, err := tool.Generate(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, dir, "graph/schema.resolvers.go")
		if _, err := parser.ParseFile(token.NewFileSet(), resolvers, got, 0); err != nil {
			t.Fatal(err)
		}
		want = append(want, "// The books' own header.\n", "// medals are given in this order.\nconst (\n\tgold = iota\n",
			"A note that belongs to nothing.", "// rank is a helper.\nfunc rank(", "gold+silver)) } // loud",
			"// By what is ranked.\ntype ranking", "var _ fmt.Stringer = ranking{}", "func init() { rank(\"once\") }",
			"// every is \"*/5 * * * *\" at noon.\nconst every = \"*/5 12 * * *\" /* inside */", "type stack[T any]",
			"func (s stack[T]) Len()")
		for _, part := range want {
			if strings.Count(got, part) != 1 {
				t.Errorf("%q is there %d times in\n%s", part, strings.Count(got, part), got)
			}
		}
		if strings.Contains(got, "WARNING") {
			t.Errorf("code is a comment:\n%s", got)
		}
		before := got
		if _, err := tool.Generate(dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, read(t, dir, "graph/schema.resolvers.go")); diff != "" {
			t.Errorf("generated again, the file changes:\n%s", diff)
		}
		return said
	}

	kept := read(t, dir, "graph/schema.resolvers.go")
	for name, text := range map[string]string{
		"_old.go": kept, "ignored.go": "//go:build ignore\n\n" + kept, "other.go": "package graph\n\n" +
			"type queue[T any] []T\n\nfunc (q queue[T]) Len() int { return len(q) }\n",
	} {
		write(t, filepath.Join(dir, "graph", name), text)
	}
	again(`return []string{rank("a book")}[:limit], nil // by hand`, `obj *model.Shelf, order *string)`)
	runGo(t, dir, "vet", "./graph/...")

	renamed := strings.NewReplacer("topBooks", "bestBooks", " ranked(by: String): String!", "").Replace(ownSchema)
	write(t, schema, model+renamed)
	said := again(`) TopBooks(ctx context.Context, limit int)`, `rank("a book")`, "not implemented: BestBooks",
		`) Ranked(ctx context.Context, obj *model.Shelf`)
	for _, resolver := range []string{"TopBooks of queryResolver", "Ranked of shelfResolver"} {
		if strings.Count(said, resolver) != 1 {
			t.Errorf("it says nothing of %s:\n%s", resolver, said)
		}
	}
	runGo(t, dir, "vet", "./graph/...")

	write(t, filepath.Join(dir, "graph", "version.go"), "package graph\n\n"+
		"import \"context\"\n\nvar _ = 1\n\nfunc init() {}\n\n"+
		"func (r *queryResolver) Version(context.Context) (string, error) { return \"two\", nil }\n")
	text = read(t, dir, "graph/schema.resolvers.go")
	from := strings.Index(text, "func (r *queryResolver) Version(")
	write(t, resolvers, text[:from]+text[from+strings.Index(text[from:], "}\n")+2:])
	again()
	if got := read(t, dir, "graph/schema.resolvers.go"); strings.Contains(got, ") Version(") {
		t.Errorf("a resolver that another file has is there twice:\n%s", got)
	}
	runGo(t, dir, "vet", "./graph/...")

	whole := read(t, dir, "graph/schema.resolvers.go")
	broken := strings.Replace(whole, "func rank(", "func rank((", 1)
	write(t, resolvers, broken)
	if _, err := tool.Generate(dir); err == nil || !strings.Contains(err.Error(), "graph/schema.resolvers.go:") {
		t.Errorf("code that does not parse: %v", err)
	}
	if got, err := os.ReadFile(resolvers); err != nil || string(got) != broken {
		t.Errorf("code that does not parse is not what it was: %v\n%s", err, got)
	}
	write(t, resolvers, "")
	generate(t, dir)
	if got := read(t, dir, "graph/schema.resolvers.go"); !strings.Contains(got, ") BestBooks(") {
		t.Errorf("an empty file becomes:\n%s", got)
	}
}
