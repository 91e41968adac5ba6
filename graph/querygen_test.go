package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// QueryGen writes random valid operations over the generated queries of a schema: aliases, fragments, conditions,
// variables, nested joins, arguments that hit, miss and are wrong.
type QueryGen struct {
	Schema  *ast.Schema
	Catalog *Catalog
	Rand    *rand.Rand
	// Texts and Times are the values that keys are made of.
	Texts, Times []string

	fragments []string
	variables []string
	vars      map[string]any
	names     int
}

// Next returns an operation and its variables.
func (g *QueryGen) Next() (query string, vars map[string]any) {
	g.fragments, g.variables, g.vars, g.names = nil, nil, map[string]any{}, 0
	var queries []string
	for name := range g.Catalog.Queries {
		queries = append(queries, name)
	}
	slices.Sort(queries)
	var body strings.Builder
	for range 1 + g.Rand.IntN(3) {
		g.root(&body, g.Schema.Query.Fields.ForName(queries[g.Rand.IntN(len(queries))]))
	}
	if g.chance(5) {
		body.WriteString("__typename ")
	}
	head := "query"
	if len(g.variables) > 0 {
		head += "(" + strings.Join(g.variables, ", ") + ")"
	}
	return head + " { " + body.String() + "}\n" + strings.Join(g.fragments, "\n"), g.vars
}

func (g *QueryGen) chance(oneIn int) bool { return g.Rand.IntN(oneIn) == 0 }

func (g *QueryGen) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

func (g *QueryGen) root(b *strings.Builder, f *ast.FieldDefinition) {
	fmt.Fprintf(b, "%s: %s%s", g.name("r"), f.Name, g.arguments(f))
	g.condition(b)
	g.selection(b, g.Schema.Types[f.Type.Name()], 0)
}

func (g *QueryGen) arguments(f *ast.FieldDefinition) string {
	var args []string
	for _, a := range f.Arguments {
		if !a.Type.NonNull && !g.chance(4) {
			continue
		}
		args = append(args, a.Name+": "+g.value(a))
	}
	if len(args) == 0 {
		return ""
	}
	return "(" + strings.Join(args, ", ") + ")"
}

// value gives an argument a literal or a variable.
func (g *QueryGen) value(a *ast.ArgumentDefinition) string {
	v := g.scalar(a)
	if g.chance(2) {
		return literal(v, g.Schema.Types[a.Type.Name()].Kind == ast.Enum)
	}
	name := g.name("v")
	typ := a.Type.String()
	switch {
	case !a.Type.NonNull && g.chance(4):
		if g.chance(2) {
			g.vars[name] = nil
		}
		g.variables = append(g.variables, "$"+name+": "+typ)
		return "$" + name
	case g.chance(4):
		g.variables = append(g.variables, "$"+name+": "+strings.TrimSuffix(typ, "!")+" = "+literal(v, g.Schema.Types[a.Type.Name()].Kind == ast.Enum))
		return "$" + name
	}
	g.vars[name] = v
	g.variables = append(g.variables, "$"+name+": "+typ)
	return "$" + name
}

func pick[T any](g *QueryGen, from ...T) T { return from[g.Rand.IntN(len(from))] }

func (g *QueryGen) scalar(a *ast.ArgumentDefinition) any {
	t := g.Schema.Types[a.Type.Name()]
	if t.Kind == ast.Enum {
		return pick(g, t.EnumValues...).Name
	}
	switch t.Name {
	case "Boolean":
		return g.chance(2)
	case "Int":
		return pick(g, 1, 2, 3, 50, 1000, 0, 1001, -1)
	case "Int64", "Float", "Decimal":
		return g.Rand.IntN(4)
	case "Date":
		return pick(g, g.Times...)[:10]
	case "DateTime":
		return pick(g, append([]string{"no time"}, g.Times...)...)
	}
	if slices.Contains([]string{"eq", "prefix", "from", "to"}, a.Name) {
		return pick(g, append(g.Times, g.Texts...)...)
	}
	return pick(g, append([]string{""}, append(append(g.Texts, g.Texts...), g.Texts...)...)...)
}

func literal(v any, enum bool) string {
	s, isText := v.(string)
	if !isText || enum {
		return fmt.Sprint(v)
	}
	return (&ast.Value{Kind: ast.StringValue, Raw: s}).String()
}

// condition now and then skips or includes, by a literal or a variable.
func (g *QueryGen) condition(b *strings.Builder) {
	if !g.chance(6) {
		return
	}
	what := pick(g, "skip", "include")
	if g.chance(2) {
		fmt.Fprintf(b, " @%s(if: %t)", what, g.chance(2))
		return
	}
	name := g.name("c")
	g.variables = append(g.variables, "$"+name+": Boolean!")
	g.vars[name] = g.chance(2)
	fmt.Fprintf(b, " @%s(if: $%s)", what, name)
}

func (g *QueryGen) selection(b *strings.Builder, t *ast.Definition, depth int) {
	b.WriteString(" { ")
	if g.chance(3) {
		fmt.Fprintf(b, "%s: __typename ", g.name("t"))
	}
	for range 1 + g.Rand.IntN(4) {
		switch {
		case depth < 5 && g.chance(8):
			b.WriteString("...")
			if g.chance(2) {
				b.WriteString(" on " + t.Name)
			}
			g.condition(b)
			g.selection(b, t, depth+1)
		case depth < 5 && g.chance(8):
			g.spread(b, t, depth)
		default:
			g.field(b, t, depth)
		}
	}
	b.WriteString("__typename } ")
}

func (g *QueryGen) spread(b *strings.Builder, t *ast.Definition, depth int) {
	name := g.name("F")
	var body strings.Builder
	g.selection(&body, t, depth+1)
	g.fragments = append(g.fragments, "fragment "+name+" on "+t.Name+body.String())
	b.WriteString("..." + name)
	g.condition(b)
	b.WriteString(" ")
	if g.chance(4) {
		b.WriteString("..." + name + " ")
	}
}

func (g *QueryGen) field(b *strings.Builder, t *ast.Definition, depth int) {
	f := pick(g, t.Fields...)
	for depth >= 5 && g.Schema.Types[f.Type.Name()].Kind == ast.Object {
		f = pick(g, t.Fields...)
		if g.chance(20) {
			b.WriteString("__typename ")
			return
		}
	}
	if g.chance(3) {
		b.WriteString(g.name(f.Name+"_") + ": ")
	}
	b.WriteString(f.Name)
	g.condition(b)
	if g.Schema.Types[f.Type.Name()].Kind == ast.Object {
		g.selection(b, g.Schema.Types[f.Type.Name()], depth+1)
	}
	b.WriteString(" ")
}
