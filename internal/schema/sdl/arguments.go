package sdl

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/vektah/gqlparser/v2/ast"
	"slices"
)

// Text returns a text argument of a sound directive; given is false where it is left out.
func Text(d *ast.Directive, name string) (text string, given bool) {
	a := d.Arguments.ForName(name)
	if a == nil {
		return "", false
	}
	return a.Value.Raw, true
}

// List returns a list argument of a sound directive, nil where it is left out.
func List(d *ast.Directive, name string) []string {
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

// Flag returns a boolean argument of a sound directive, false where it is left out.
func Flag(d *ast.Directive, name string) bool {
	text, _ := Text(d, name)
	return text == "true"
}

// ArgumentPosition is where an argument stands, or its directive where it is left out.
func ArgumentPosition(d *ast.Directive, name string) schema.Pos {
	if a := d.Arguments.ForName(name); a != nil {
		return Position(a.Position)
	}
	return Position(d.Position)
}

// Objects returns the objects in an argument of a sound directive, each as a directive whose arguments are its members.
func Objects(d *ast.Directive, name string) []*ast.Directive {
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

// IsModel reports whether a type is a read model.
func IsModel(def *ast.Definition) bool {
	return slices.ContainsFunc(def.Directives, func(d *ast.Directive) bool { return IsModelMark(d.Name) })
}

// IsAggregate reports whether a type is a read model whose rows are stored as several items.
func IsAggregate(def *ast.Definition) bool {
	return IsModel(def) && def.Directives.ForName("aggregate") != nil
}

// IsPart reports whether a type is one that aggregates alone hold.
func IsPart(def *ast.Definition) bool {
	return def.Directives.ForName("subAggregate") != nil || def.Directives.ForName("member") != nil
}

// Annotations are the directives of a type and of its fields that steer the generator.
func Annotations(def *ast.Definition) []*ast.Directive {
	all := slices.Clone(def.Directives)
	for _, f := range def.Fields {
		all = append(all, f.Directives...)
	}
	build := BuildDirectives()
	return slices.DeleteFunc(all, func(d *ast.Directive) bool { return !slices.Contains(build, d.Name) })
}

// IsModelMark reports whether a directive makes a type a read model.
func IsModelMark(directive string) bool { return directive == "readModel" || directive == "stateView" }

// Deprecation is the reason of @deprecated, nil without.
func Deprecation(def *ast.FieldDefinition) *string {
	d := def.Directives.ForName("deprecated")
	if d == nil {
		return nil
	}
	reason, given := Text(d, "reason")
	if !given {
		reason = "No longer supported"
	}
	return &reason
}
