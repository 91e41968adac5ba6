package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// site is where a directive stands.
type site struct {
	typ, field string
	location   ast.DirectiveLocation
}

// soundDirectives checks the directives at a site against their definitions; it returns the known ones, without the
// arguments that are wrong and, save for what makes a type a read model, without those that lack an argument.
func (l *loader) soundDirectives(doc *document, s site, used ast.DirectiveList) ast.DirectiveList {
	var kept ast.DirectiveList
	for _, d := range used {
		def := doc.vocabulary.directives[d.Name]
		switch {
		case def == nil:
			l.add(l.unknown(doc, s, d))
		case !slices.Contains(def.Locations, s.location):
			l.add(wrongPlace.broken(at(d.Position), s.typ, s.field, d.Name, locationName(s.location), places(def)))
		case !def.IsRepeatable && kept.ForName(d.Name) != nil:
			r := repeatedDirective
			if isModelMark(d.Name) {
				r = severalWriters
			}
			l.add(r.broken(at(d.Position), s.typ, s.field, d.Name))
		default:
			if l.soundArguments(doc, s, d, def) || isModelMark(d.Name) {
				kept = append(kept, d)
			}
		}
	}
	return kept
}

// unknown says why a directive is not known: it may belong elsewhere, or to a later version.
func (l *loader) unknown(doc *document, s site, d *ast.Directive) Diagnostic {
	other, name := eventVocabulary, "events"
	if doc == l.events {
		other, name = readModelVocabulary, "read models"
	}
	switch {
	case other.directives[d.Name] != nil:
		return misplacedSchema.broken(at(d.Position), s.typ, s.field, d.Name, name)
	case slices.Contains(laterDirectives, d.Name):
		return laterDirective.broken(at(d.Position), s.typ, s.field, d.Name)
	}
	return unknownDirective.broken(at(d.Position), s.typ, s.field, d.Name)
}

func places(def *ast.DirectiveDefinition) string {
	names := make([]string, len(def.Locations))
	for i, at := range def.Locations {
		names[i] = locationName(at)
	}
	return strings.Join(names, " or ")
}

// soundArguments drops the arguments that are wrong; complete is false where a required one is missing.
func (l *loader) soundArguments(doc *document, s site, d *ast.Directive, def *ast.DirectiveDefinition) (complete bool) {
	given := map[string]bool{}
	var kept ast.ArgumentList
	for _, a := range d.Arguments {
		want := def.Arguments.ForName(a.Name)
		switch {
		case want == nil:
			l.add(unknownArgument.broken(at(a.Position), s.typ, s.field, d.Name, a.Name, signature(def)))
			continue
		case given[a.Name]:
			l.add(repeatedArgument.broken(at(a.Position), s.typ, s.field, d.Name, a.Name))
			continue
		}
		given[a.Name] = true
		c := argumentCheck{types: doc.vocabulary.types, directive: d.Name, argument: a.Name, whole: want.Type}
		if broken, args := c.value(a.Value, want.Type); broken != nil {
			l.add(broken.broken(at(a.Value.Position), s.typ, s.field, append([]string{d.Name, a.Name}, args...)...))
			continue
		}
		kept = append(kept, a)
	}
	d.Arguments = kept
	complete = true
	for _, want := range def.Arguments {
		required := want.Type.NonNull && want.DefaultValue == nil
		if required && !given[want.Name] {
			l.add(missingArgument.broken(at(d.Position), s.typ, s.field, d.Name, want.Name))
		}
		if required && kept.ForName(want.Name) == nil {
			complete = false
		}
	}
	return complete
}

// argumentCheck holds one argument against its type.
type argumentCheck struct {
	types               map[string]*ast.Definition
	directive, argument string
	whole               *ast.Type
}

// value returns the rule that a literal breaks, with what to report beside directive and argument.
func (c argumentCheck) value(v *ast.Value, t *ast.Type) (*rule, []string) {
	switch {
	case v.Kind == ast.NullValue:
		return nullArgument, nil
	case t.Elem == nil:
		return c.single(v, t.NamedType)
	case v.Kind != ast.ListValue: // one value stands for a list of one
		return c.value(v, t.Elem)
	case len(v.Children) == 0:
		return emptyList, nil
	}
	seen := map[string]bool{}
	for _, child := range v.Children {
		if r, args := c.value(child.Value, t.Elem); r != nil {
			return r, args
		}
		if seen[child.Value.Raw] {
			return repeatedValue, []string{child.Value.String()}
		}
		seen[child.Value.Raw] = true
	}
	return nil, nil
}

func (c argumentCheck) single(v *ast.Value, typ string) (*rule, []string) {
	if def := c.types[typ]; def != nil && def.Kind == ast.Enum {
		switch {
		case v.Kind != ast.EnumValue:
			return c.mistyped(v, "one of "+enumNames(def))
		case def.EnumValues.ForName(v.Raw) == nil:
			return argumentValue, []string{v.Raw, enumNames(def)}
		}
		return nil, nil
	}
	switch typ {
	case "Boolean":
		if v.Kind != ast.BooleanValue {
			return c.mistyped(v, "true or false")
		}
	case "Int":
		if _, err := strconv.ParseInt(v.Raw, 10, 32); v.Kind != ast.IntValue || err != nil {
			return c.mistyped(v, "a number, such as 1")
		}
	default:
		if v.Kind != ast.StringValue && v.Kind != ast.BlockValue {
			return c.mistyped(v, `"…"`)
		}
		if v.Raw == "" {
			return emptyText, nil
		}
	}
	return nil, nil
}

func (c argumentCheck) mistyped(v *ast.Value, example string) (*rule, []string) {
	if c.whole.Elem != nil {
		example = "[" + example + "]"
	}
	return argumentType, []string{literalName(v), c.whole.String(), example}
}

func enumNames(def *ast.Definition) string {
	names := make([]string, len(def.EnumValues))
	for i, v := range def.EnumValues {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// literalName names a literal in a sentence.
func literalName(v *ast.Value) string {
	switch v.Kind {
	case ast.IntValue:
		return "the number " + v.Raw
	case ast.FloatValue:
		return "the number " + v.Raw
	case ast.StringValue, ast.BlockValue:
		return "the text " + v.String()
	case ast.BooleanValue:
		return "the boolean " + v.Raw
	case ast.EnumValue:
		return "the name " + v.Raw
	case ast.ListValue:
		return "a list"
	case ast.ObjectValue:
		return "an object"
	}
	return "a variable"
}

// textOf returns a text argument of a sound directive; given is false where it is left out.
func textOf(d *ast.Directive, name string) (text string, given bool) {
	a := d.Arguments.ForName(name)
	if a == nil {
		return "", false
	}
	return a.Value.Raw, true
}

// listOf returns a list argument of a sound directive, nil where it is left out.
func listOf(d *ast.Directive, name string) []string {
	a := d.Arguments.ForName(name)
	if a == nil {
		return nil
	}
	if a.Value.Kind != ast.ListValue {
		return []string{a.Value.Raw}
	}
	var texts []string
	for _, child := range a.Value.Children {
		texts = append(texts, child.Value.Raw)
	}
	return texts
}

// flagOf returns a boolean argument of a sound directive, false where it is left out.
func flagOf(d *ast.Directive, name string) bool {
	text, _ := textOf(d, name)
	return text == "true"
}

// argumentPos is where an argument stands, or its directive where it is left out.
func argumentPos(d *ast.Directive, name string) Pos {
	if a := d.Arguments.ForName(name); a != nil {
		return at(a.Position)
	}
	return at(d.Position)
}
