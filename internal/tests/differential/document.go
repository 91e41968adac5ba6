package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Documents draws operations over the queries of a schema, nearly all of them valid: aliases, merged roots, fragments,
// also on the members of unions, conditions, variables anywhere, lists of them too, and arguments that hit, miss and
// are wrong.
type Documents struct {
	Schema *ast.Schema
	// Queries are the fields of Query that are asked.
	Queries []string
	Rand    *rand.Rand
	// Texts and Times are the values that keys are made of.
	Texts, Times []string
	// Invalid says that one document in 20 has a literal that is of no type.
	Invalid bool
	// Tokens are page tokens and cursors that answers had, and IDs global identifiers of rows.
	Tokens, IDs []string

	invalid   bool // the document is yet to get such a literal
	fragments []string
	declared  []string
	draw      map[string]func() (v any, given bool)
	names     int
	nested    int             // how deep what is written lies in input objects
	members   []string        // of abstract types, on which the fragments are that are open
	shared    map[string]bool // fields that have a response key which they share with those of other members
}

// Next returns a document, and a function that draws values for its variables, other ones each time.
func (g *Documents) Next() (query string, variables func() map[string]any) {
	g.fragments, g.declared, g.draw, g.names = nil, nil, map[string]func() (any, bool){}, 0
	g.members, g.shared = nil, map[string]bool{}
	g.invalid = g.Invalid && g.chance(20)
	var body strings.Builder
	for range 1 + g.Rand.IntN(3) {
		f := g.Schema.Query.Fields.ForName(pick(g.Rand, g.Queries...))
		head := fmt.Sprintf("%s: %s%s", g.name("r"), f.Name, g.arguments(f))
		for range 1 + g.Rand.IntN(5)/4 { // now and then in two pieces, which are merged
			body.WriteString(head + g.condition())
			g.selection(&body, g.Schema.Types[f.Type.Name()], 0)
		}
	}
	if g.chance(5) {
		body.WriteString("__typename ")
	}
	head := "query"
	if len(g.declared) > 0 {
		head += "(" + strings.Join(g.declared, ", ") + ")"
	}
	draw := g.draw
	return head + " { " + body.String() + "}\n" + strings.Join(g.fragments, "\n"), func() map[string]any {
		vars := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(draw)) {
			if v, given := draw[name](); given {
				vars[name] = v
			}
		}
		return vars
	}
}

func (g *Documents) chance(oneIn int) bool { return g.Rand.IntN(oneIn) == 0 }

func (g *Documents) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// often are arguments that can be left out, but say the most where they are not.
var often = []string{"only", "id"}

func (g *Documents) arguments(f *ast.FieldDefinition) string {
	var args []string
	for _, a := range f.Arguments {
		if a.Type.NonNull || g.chance(5) || slices.Contains(often, a.Name) && g.chance(2) {
			args = append(args, a.Name+": "+g.value(a.Name, a.Type))
		}
	}
	if len(args) == 0 {
		return ""
	}
	return "(" + strings.Join(args, ", ") + ")"
}

// value gives an argument, or an element of a list, a literal or a variable.
func (g *Documents) value(arg string, t *ast.Type) string {
	if g.chance(2) {
		return g.literal(arg, t, g.value)
	}
	name, declared := g.name("v"), t.String()
	draw := func() (any, bool) { return g.input(arg, t), true }
	switch {
	case !t.NonNull && g.chance(4):
		draw = func() (any, bool) { return nil, g.chance(2) }
	case g.chance(3): // a default, which lets a non-null place have a variable that may be left out
		if declared += " = " + g.constant(arg, t); g.chance(2) {
			declared = strings.TrimSuffix(t.String(), "!") + declared[len(t.String()):]
		}
		draw = func() (any, bool) { return g.input(arg, t), g.chance(2) }
	}
	g.declared, g.draw[name] = append(g.declared, "$"+name+": "+declared), draw
	return "$" + name
}

// literal is a value as a document writes it. element writes those of a list: in the body of an operation they may be
// variables, in a default none may.
func (g *Documents) literal(arg string, t *ast.Type, element func(arg string, t *ast.Type) string) string {
	if t.Elem == nil {
		def := g.Schema.Types[t.Name()]
		if def.Kind == ast.InputObject {
			return g.object(def, element)
		}
		if g.spoils() {
			return noValue
		}
		return written(g.input(arg, t), def.Kind == ast.Enum)
	}
	var list []string
	for range g.Rand.IntN(4) {
		list = append(list, element(arg, t.Elem))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// noValue is a literal that is a value of no scalar and of no enum, with which no document is valid.
const noValue = "{}"

// spoils reports whether the next literal is noValue.
func (g *Documents) spoils() bool {
	spoils := g.invalid && g.chance(4)
	g.invalid = g.invalid && !spoils
	return spoils
}

// object is an object as a document writes it.
func (g *Documents) object(def *ast.Definition, value func(arg string, t *ast.Type) string) string {
	var parts []string
	for _, f := range g.some(def) {
		parts = append(parts, f.Name+": "+value(f.Name, f.Type))
	}
	g.nested--
	return "{" + strings.Join(parts, ", ") + "}"
}

// some are the fields that an object must have, which lies one deeper than what it is in, and a few others; of one too
// deep there are none of those.
func (g *Documents) some(def *ast.Definition) (fields []*ast.FieldDefinition) {
	for _, f := range def.Fields {
		if f.Type.NonNull {
			fields = append(fields, f)
		}
	}
	if g.nested++; g.nested > 4 {
		return fields
	}
	for range g.Rand.IntN(3) {
		if f := pick(g.Rand, def.Fields...); !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}

func (g *Documents) constant(arg string, t *ast.Type) string { return g.literal(arg, t, g.constant) }

// input is a value as a request gives it.
func (g *Documents) input(arg string, t *ast.Type) any {
	if t.Elem != nil {
		if g.chance(6) {
			return g.input(arg, t.Elem) // what is no list stands for one of it
		}
		list := []any{}
		for range g.Rand.IntN(4) {
			list = append(list, g.input(arg, t.Elem))
		}
		return list
	}
	def := g.Schema.Types[t.Name()]
	switch def.Kind {
	case ast.Enum:
		return pick(g.Rand, def.EnumValues...).Name
	case ast.InputObject:
		object := map[string]any{}
		for _, f := range g.some(def) {
			object[f.Name] = g.input(f.Name, f.Type)
			if !f.Type.NonNull && g.chance(12) {
				object[f.Name] = nil
			}
		}
		g.nested--
		return object
	}
	switch def.Name {
	case "Boolean":
		return g.chance(2)
	case "Int":
		return pick(g.Rand, 1, 2, 3, 50, 1000, 0, 1001, -1)
	case "Int64", "Float", "Decimal":
		return g.Rand.IntN(4)
	case "Date":
		return pick(g.Rand, g.Times...)[:10]
	case "DateTime":
		return pick(g.Rand, append([]string{"no time"}, g.Times...)...)
	}
	texts := slices.Concat([]string{"", "0", "1", "2", "true", "1.5"}, g.Texts, g.Texts)
	switch arg {
	case "nextToken", "after", "before":
		texts = append(g.Tokens, "none")
	case "eq", "prefix", "from", "to":
		texts = slices.Concat(texts, g.Times, []string{"2024", "2024-01", "ann/1", "1|ann", "NEW"})
	case "ids":
		texts = slices.Concat(texts, g.IDs)
	case "id", "_subId":
		if len(g.IDs) > 0 && g.chance(3) {
			return pick(g.Rand, g.IDs...)
		}
		a, b := pick(g.Rand, texts...), pick(g.Rand, texts...)
		texts = append(texts, a+"/"+b, a+"|"+b, pick(g.Rand, g.Times...))
	}
	return pick(g.Rand, texts...)
}

func written(v any, enum bool) string {
	s, isText := v.(string)
	if !isText || enum {
		return fmt.Sprint(v)
	}
	return (&ast.Value{Kind: ast.StringValue, Raw: s}).String()
}

// condition now and then skips or includes, by a literal or a variable, which may have a default.
func (g *Documents) condition() string {
	if !g.chance(6) {
		return ""
	}
	what := pick(g.Rand, "skip", "include")
	if g.spoils() {
		return fmt.Sprintf(" @%s(if: %s)", what, noValue)
	}
	if g.chance(3) {
		return fmt.Sprintf(" @%s(if: %t)", what, g.chance(2))
	}
	name := g.name("c")
	given := !g.chance(3)
	g.declared = append(g.declared, "$"+name+": Boolean!"+map[bool]string{false: fmt.Sprint(" = ", g.chance(2))}[given])
	g.draw[name] = func() (any, bool) { return g.chance(2), given || g.chance(2) }
	return fmt.Sprintf(" @%s(if: $%s)", what, name)
}

func (g *Documents) selection(b *strings.Builder, t *ast.Definition, depth int) {
	b.WriteString(" { ")
	if g.chance(3) {
		fmt.Fprintf(b, "%s: __typename ", g.name("t"))
	}
	for range 1 + g.Rand.IntN(4) {
		switch {
		case depth < 5 && (g.chance(8) || t.Kind == ast.Union || t.Kind == ast.Interface && g.chance(2)):
			on := t
			if t.IsAbstractType() && !g.chance(8) {
				on = pick(g.Rand, g.Schema.GetPossibleTypes(t)...)
			}
			b.WriteString("... on " + on.Name + g.condition())
			if t.IsAbstractType() {
				g.members = append(g.members, on.Name)
			}
			g.selection(b, on, depth+1)
			if t.IsAbstractType() {
				g.members = g.members[:len(g.members)-1]
			}
		case depth < 5 && g.chance(8):
			g.spread(b, t, depth)
		case t.Kind != ast.Union:
			g.field(b, t, depth)
		}
	}
	b.WriteString("__typename } ")
}

func (g *Documents) spread(b *strings.Builder, t *ast.Definition, depth int) {
	name := g.name("F")
	var body strings.Builder
	g.selection(&body, t, depth+1)
	g.fragments = append(g.fragments, "fragment "+name+" on "+t.Name+body.String())
	b.WriteString("..." + name + g.condition() + " ")
	if g.chance(4) {
		b.WriteString("..." + name + " ")
	}
}

func (g *Documents) field(b *strings.Builder, t *ast.Definition, depth int) {
	f := pick(g.Rand, t.Fields...)
	composite := func() bool {
		return !slices.Contains([]ast.DefinitionKind{ast.Scalar, ast.Enum}, g.Schema.Types[f.Type.Name()].Kind)
	}
	if depth >= 5 && composite() {
		return
	}
	// Members of a union may have fields of one name and several types, which cannot have one response key.
	alias := t.Name + "_" + f.Name
	if g.chance(3) {
		alias = g.name(f.Name + "_")
	}
	// Two members of a union may have one response key for different things.
	at := strings.Join(g.members, " ") + " " + t.Name + " " + f.Name
	switch {
	case len(g.members) > 0 && composite() && !g.shared[at]:
		alias, g.shared[at] = "in_"+f.Name, true
	case len(f.Arguments) > 0:
		alias = g.name(f.Name + "_") // two with different arguments cannot have one response key
	}
	b.WriteString(alias + ": " + f.Name + g.arguments(f) + g.condition())
	if composite() {
		g.selection(b, g.Schema.Types[f.Type.Name()], depth+1)
	}
	b.WriteString(" ")
}
