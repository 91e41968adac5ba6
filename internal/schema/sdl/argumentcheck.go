package sdl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

// defaultValue is the type of arguments that hold a literal of any type; who reads them knows of which.
const defaultValue = "DefaultValue"

// argumentCheck holds one argument against its type.
type argumentCheck struct {
	types               map[string]*ast.Definition
	directive, argument string // argument is "gsis.pk" for the member pk of the objects in gsis
	whole               *ast.Type
}

// fault is the rule that an argument breaks, with what to report beside the directive.
type fault struct {
	rule     *rule.Rule
	argument string
	args     []string
	at       *ast.Position // of the object or its member; nil for the argument itself
}

func (f *fault) place(argument *ast.Value) schema.Pos {
	if f.at != nil {
		return Position(f.at)
	}
	return Position(argument.Position)
}

func (c argumentCheck) broken(r *rule.Rule, args ...string) *fault {
	return &fault{rule: r, argument: c.argument, args: args}
}

// value returns what is wrong with a literal, nil for nothing.
func (c argumentCheck) value(v *ast.Value, t *ast.Type) *fault {
	switch {
	case v.Kind == ast.NullValue:
		return c.broken(rule.NullArgument)
	case t.Elem == nil:
		return c.single(v, t.NamedType)
	case v.Kind != ast.ListValue: // one value stands for a list of one
		return c.value(v, t.Elem)
	case len(v.Children) == 0 && !c.half():
		return c.broken(rule.EmptyList)
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
			return c.broken(rule.RepeatedValue, child.Value.String())
		}
		seen[child.Value.Raw] = true
	}
	return nil
}

// half reports whether the argument composes half of a key, which may be composed of nothing.
func (c argumentCheck) half() bool { return c.argument == "pk" || c.argument == "sk" }

func (c argumentCheck) single(v *ast.Value, typ string) *fault {
	if def := c.types[typ]; def != nil && typ != defaultValue {
		switch {
		case def.Kind == ast.InputObject && v.Kind == ast.ObjectValue:
			return c.object(v, def)
		case def.Kind == ast.Scalar && v.Kind == ast.ObjectValue && len(v.Children) > 0:
			return c.distinct(v)
		case def.Kind == ast.Scalar && !slices.Contains(ScalarNames, typ):
			return c.mistyped(v, "{name: 1}")
		case def.Kind == ast.InputObject:
			return c.mistyped(v, "{…}")
		case def.Kind == ast.Enum && v.Kind != ast.EnumValue:
			return c.mistyped(v, "one of "+enumNames(def))
		case def.Kind == ast.Enum && def.EnumValues.ForName(v.Raw) == nil:
			return c.broken(rule.ArgumentValue, v.Raw, enumNames(def), Suggest(v.Raw, strings.Split(enumNames(def), ", ")))
		case def.Kind == ast.Enum:
			return nil
		}
	}
	switch typ {
	case defaultValue:
		if v.Kind == ast.Variable {
			return c.mistyped(v, `"…"`)
		}
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
			return c.broken(rule.EmptyText)
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
			wrong = c.broken(rule.UnknownMember, child.Name, memberNames(def),
				Suggest(child.Name, strings.Split(memberNames(def), ", ")))
		case given[child.Name]:
			wrong = member.broken(rule.RepeatedArgument)
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
			wrong := c.broken(rule.MissingMember, want.Name)
			wrong.at = v.Position
			return wrong
		}
	}
	return nil
}

// distinct wants each name of a free-form object once.
func (c argumentCheck) distinct(v *ast.Value) *fault {
	given := map[string]bool{}
	for _, child := range v.Children {
		if given[child.Name] {
			member := c
			member.argument += "." + child.Name
			wrong := member.broken(rule.RepeatedArgument)
			wrong.at = child.Position
			return wrong
		}
		given[child.Name] = true
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
	return c.broken(rule.ArgumentType, literalName(v), c.whole.String(), example)
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
