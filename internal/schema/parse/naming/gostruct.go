package naming

import (
	"go/token"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// fieldScope holds the Go names of the fields and methods of one struct. The executor binds a field of GraphQL to what
// has its name, whatever the case and the underscores.
type fieldScope struct {
	*scope
	folded map[string]string
}

func (l *goNames) newFieldScope() *fieldScope { return &fieldScope{l.newScope(), map[string]string{}} }

func folded(goName string) string { return strings.ToLower(strings.ReplaceAll(goName, "_", "")) }

// method reserves the name of a method.
func (s *fieldScope) method(name, what string) { s.names[name], s.folded[folded(name)] = what, what }

// field claims the Go name of a field.
func (s *fieldScope) field(name string, pos schema.Pos, typ string) {
	s.fieldFor(name, "field "+name, pos, typ, name)
}

// fieldFor claims the Go name of what stands for a declared field.
func (s *fieldScope) fieldFor(name, what string, pos schema.Pos, typ, declared string) {
	g := schema.GoName(name)
	if _, taken := s.names[g]; !taken {
		if other, taken := s.folded[folded(g)]; taken {
			s.project.Add(rule.GoAlike.Broken(pos, typ, declared, what, g, other))
			return
		}
		s.folded[folded(g)] = what
	}
	s.named(name, what, pos, typ, declared)
}

// checkStructs covers the fields of rows and of the project's own types.
func (l *goNames) checkStructs() {
	for _, d := range l.ReadModels {
		l.checkRow(d)
	}
	for _, def := range l.API.Types {
		if part := l.Parts[def]; part != nil && part.Object != nil {
			l.checkRow(part.Model)
			continue
		}
		if def.Kind != ast.InputObject && !l.isOwnObject(def) {
			continue
		}
		s := l.newFieldScope()
		for _, i := range l.API.AbstractsOf(def) {
			s.method("Is"+schema.GoName(i), "the method that makes it "+i)
		}
		for _, f := range def.Fields {
			s.field(f.Name, sdl.Position(f.Position), def.Name)
		}
		if slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool { return len(f.Arguments) > 0 }) {
			l.checkResolver(def)
		}
	}
}

// checkResolver covers the name of the resolver of a type, to which gqlgen's executor finds no way behind an
// underscore.
func (l *goNames) checkResolver(def *ast.Definition) {
	if strings.HasPrefix(def.Name, "_") {
		l.Add(rule.GoName.Broken(sdl.Position(def.Position), def.Name, "", "the resolver of its fields"))
	}
}

// checkRow covers stored and virtual fields of a model.
func (l *goNames) checkRow(d *draft.Model) {
	s := l.newFieldScope()
	for _, c := range l.Model.Collections {
		for _, m := range c.Members {
			if m.Model == d.ReadModel {
				s.method("Is"+schema.GoName(c.Union()), "the method that makes it "+c.Union())
			}
		}
	}
	if d.NodeKey != nil {
		s.method("Is"+schema.NodeType, "the method that makes it "+schema.NodeType)
		if id := l.Model.Relay.ID; d.Field(id) == nil && !hasJoin(d, id) { // else it is reported as that
			s.method(schema.GoName(id), "the global identifier")
		}
	}
	for _, f := range d.Fields {
		if r := d.Reference(f); r != nil && f == r.ID {
			s.fieldFor(f.Name, "identifier "+f.Name+" of field "+r.Copy.Name, f.Pos, d.Name, r.Copy.Name)
		} else {
			s.field(f.Name, f.Pos, d.Name)
		}
	}
	for _, j := range d.Joins {
		s.claim(schema.GoName(j.Name), "virtual field "+j.Name, j.Pos, d.Name, j.Source.Name)
	}
	guarded := slices.ContainsFunc(d.Fields, func(f *schema.Field) bool { return f.Auth != nil })
	if guarded || len(d.Joins) > 0 || d.NodeKey != nil {
		l.checkResolver(d.Def)
	}
}

func hasJoin(d *draft.Model, name string) bool {
	return slices.ContainsFunc(d.Joins, func(j *schema.Join) bool { return j.Name == name })
}

// isOwnObject reports whether a type is an object type that is no read model and not the root.
func (l *goNames) isOwnObject(def *ast.Definition) bool {
	return def.Kind == ast.Object && !sdl.IsRoot(def.Name) && !slices.ContainsFunc(l.ReadModels,
		func(d *draft.Model) bool { return d.Def == def })
}

// checkOwnArguments covers the parameters of the resolvers of the project's own fields. Stubs give others of their own
// names to what would hide their receiver, or what they call.
func (l *goNames) checkOwnArguments() {
	for _, def := range l.API.Types {
		if def.Name != "Query" && !l.isOwnObject(def) {
			continue
		}
		for _, f := range def.Fields {
			s := l.newScope()
			s.names["ctx"] = "the context"
			if def.Name != "Query" {
				s.names["obj"] = "the object"
			}
			for _, a := range f.Arguments {
				g, what := templates.ToGoPrivate(a.Name), "argument "+a.Name
				if !token.IsIdentifier(g) {
					l.Add(rule.GoName.Broken(sdl.Position(a.Position), def.Name, f.Name, what))
					continue
				}
				s.claim(g, what, sdl.Position(a.Position), def.Name, f.Name)
			}
		}
	}
}
