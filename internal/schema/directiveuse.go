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
// arguments that are wrong and, save for those that say what the type is, without those that lack an argument.
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
			l.add(repeatedDirective.broken(at(d.Position), s.typ, s.field, d.Name))
		default:
			if l.soundArguments(doc, s, d, def) || decisive(d.Name) {
				kept = append(kept, d)
			}
		}
	}
	return kept
}

// decisive directives make a type what it is; without them, what else stands on it would be reported as out of place.
func decisive(directive string) bool {
	return isModelMark(directive) || directive == "entity" || directive == "primaryKey" || directive == "keys"
}

// unknown says why a directive is not known: it may belong elsewhere, or to another system.
func (l *loader) unknown(doc *document, s site, d *ast.Directive) Diagnostic {
	other, name := eventVocabulary, "events"
	if doc == l.events {
		other, name = readModelVocabulary, "read models"
	}
	switch {
	case other.directives[d.Name] != nil:
		return misplacedSchema.broken(at(d.Position), s.typ, s.field, d.Name, name)
	case slices.Contains(relationDirectives, d.Name):
		return relationDirective.broken(at(d.Position), s.typ, s.field, d.Name)
	}
	return unknownDirective.broken(at(d.Position), s.typ, s.field, d.Name, doc.vocabulary.meantDirective(d.Name, s.location))
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
			l.add(unknownArgument.broken(at(a.Position), s.typ, s.field, d.Name, a.Name, signature(def), meant(a.Name, argumentNames(def))))
			continue
		case given[a.Name]:
			l.add(repeatedArgument.broken(at(a.Position), s.typ, s.field, d.Name, a.Name))
			continue
		}
		given[a.Name] = true
		c := argumentCheck{types: doc.vocabulary.types, directive: d.Name, argument: a.Name, whole: want.Type}
		if wrong := c.value(a.Value, want.Type); wrong != nil {
			pos, args := wrong.place(a.Value), append([]string{d.Name, wrong.argument}, wrong.args...)
			l.add(wrong.rule.broken(pos, s.typ, s.field, args...))
			l.dropped[d] = append(l.dropped[d], a.Name)
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
	directive, argument string // argument is "gsis.pk" for the member pk of the objects in gsis
	whole               *ast.Type
}

// fault is the rule that an argument breaks, with what to report beside the directive.
type fault struct {
	rule     *rule
	argument string
	args     []string
	at       *ast.Position // of the object or its member; nil for the argument itself
}

func (f *fault) place(argument *ast.Value) Pos {
	if f.at != nil {
		return at(f.at)
	}
	return at(argument.Position)
}

func (c argumentCheck) broken(r *rule, args ...string) *fault {
	return &fault{rule: r, argument: c.argument, args: args}
}

// value returns what is wrong with a literal, nil for nothing.
func (c argumentCheck) value(v *ast.Value, t *ast.Type) *fault {
	switch {
	case v.Kind == ast.NullValue:
		return c.broken(nullArgument)
	case t.Elem == nil:
		return c.single(v, t.NamedType)
	case v.Kind != ast.ListValue: // one value stands for a list of one
		return c.value(v, t.Elem)
	case len(v.Children) == 0 && !c.half():
		return c.broken(emptyList)
	}
	seen := map[string]bool{}
	for _, child := range v.Children {
		if wrong := c.value(child.Value, t.Elem); wrong != nil {
			return wrong
		}
		if child.Value.Kind == ast.ObjectValue {
			continue
		}
		if seen[child.Value.Raw] {
			return c.broken(repeatedValue, child.Value.String())
		}
		seen[child.Value.Raw] = true
	}
	return nil
}

// half reports whether the argument composes half of a key, which may be composed of nothing.
func (c argumentCheck) half() bool { return c.argument == "pk" || c.argument == "sk" }

func (c argumentCheck) single(v *ast.Value, typ string) *fault {
	if def := c.types[typ]; def != nil {
		switch {
		case def.Kind == ast.InputObject && v.Kind == ast.ObjectValue:
			return c.object(v, def)
		case def.Kind == ast.InputObject:
			return c.mistyped(v, "{…}")
		case def.Kind == ast.Enum && v.Kind != ast.EnumValue:
			return c.mistyped(v, "one of "+enumNames(def))
		case def.Kind == ast.Enum && def.EnumValues.ForName(v.Raw) == nil:
			return c.broken(argumentValue, v.Raw, enumNames(def), meant(v.Raw, strings.Split(enumNames(def), ", ")))
		case def.Kind == ast.Enum:
			return nil
		}
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
			return c.broken(emptyText)
		}
	}
	return nil
}

// object holds the members of an object against its type.
func (c argumentCheck) object(v *ast.Value, def *ast.Definition) *fault {
	given := map[string]bool{}
	for _, child := range v.Children {
		member := c
		member.argument = c.argument + "." + child.Name
		want := def.Fields.ForName(child.Name)
		var wrong *fault
		switch {
		case want == nil:
			wrong = c.broken(unknownMember, child.Name, memberNames(def), meant(child.Name, strings.Split(memberNames(def), ", ")))
		case given[child.Name]:
			wrong = member.broken(repeatedArgument)
		default:
			member.whole = want.Type
			wrong = member.value(child.Value, want.Type)
		}
		if wrong != nil {
			if wrong.at == nil {
				wrong.at = child.Position
			}
			return wrong
		}
		given[child.Name] = true
	}
	for _, want := range def.Fields {
		if want.Type.NonNull && want.DefaultValue == nil && !given[want.Name] {
			wrong := c.broken(missingMember, want.Name)
			wrong.at = v.Position
			return wrong
		}
	}
	return nil
}

func memberNames(def *ast.Definition) string {
	names := make([]string, len(def.Fields))
	for i, f := range def.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

func (c argumentCheck) mistyped(v *ast.Value, example string) *fault {
	if c.whole.Elem != nil {
		example = "[" + example + "]"
	}
	return c.broken(argumentType, literalName(v), c.whole.String(), example)
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

// objectsOf returns the objects in an argument of a sound directive, each as a directive whose arguments are its members.
func objectsOf(d *ast.Directive, name string) []*ast.Directive {
	a := d.Arguments.ForName(name)
	if a == nil {
		return nil
	}
	values := []*ast.Value{a.Value}
	if a.Value.Kind == ast.ListValue {
		values = nil
		for _, child := range a.Value.Children {
			values = append(values, child.Value)
		}
	}
	var objects []*ast.Directive
	for _, v := range values {
		o := &ast.Directive{Name: d.Name, Position: v.Position}
		for _, child := range v.Children {
			o.Arguments = append(o.Arguments, &ast.Argument{Name: child.Name, Value: child.Value, Position: child.Position})
		}
		objects = append(objects, o)
	}
	return objects
}
