package draft

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Model is a read model while it is read: what it becomes, and where it comes from.
type Model struct {
	*schema.ReadModel
	Project *Project
	Def     *ast.Definition
	Marks   []*ast.Directive // @readModel and @stateView, one for each of Writers
	Sources map[*schema.Field]*ast.FieldDefinition
	// Settings are the arguments of each index, with what gives them.
	Settings map[*schema.Index]map[string]Marked
}

// Report adds a broken rule at a field of the model, which it calls by the name that is declared; a nil field means the
// model itself.
func (d *Model) Report(r *rule.Rule, pos schema.Pos, f *schema.Field, args ...string) {
	name := ""
	if f != nil {
		name = d.declared(f).Name
	}
	d.Project.Add(r.Broken(pos, d.Name, name, args...))
}

// Marked are the fields that bear a directive, in order of declaration.
func (d *Model) Marked(directive string) []Marked {
	var ms []Marked
	for _, f := range d.Fields {
		for _, dir := range d.Sources[f].Directives.ForNames(directive) {
			ms = append(ms, Marked{f, dir})
		}
	}
	return ms
}

// Marked is a field and a directive on it.
type Marked struct {
	Field *schema.Field
	Dir   *ast.Directive
}

// Field is the field of the name, nil where the model has none such.
func (d *Model) Field(name string) *schema.Field {
	i := slices.IndexFunc(d.Fields, func(f *schema.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return d.Fields[i]
}

// Setting is the annotation that gives an argument that holds for the row and not for one of its writers, nil for none.
func (d *Model) Setting(argument string) *ast.Directive {
	var first *ast.Directive
	for _, m := range d.Marks {
		a := m.Arguments.ForName(argument)
		switch {
		case a == nil:
		case first == nil:
			first = m
		case first.Arguments.ForName(argument).Value.String() != a.Value.String():
			d.Report(rule.WriterConflict, sdl.Position(a.Position), nil, argument)
		}
	}
	return first
}

// SettingPos is where the argument stands that setting finds, else the first annotation.
func (d *Model) SettingPos(argument string) schema.Pos {
	for _, m := range d.Marks {
		if m.Arguments.ForName(argument) != nil {
			return sdl.ArgumentPosition(m, argument)
		}
	}
	return sdl.Position(d.Marks[0].Position)
}

// EntityDir is @entity of the type, nil where it has none.
func (d *Model) EntityDir() *ast.Directive { return d.Def.Directives.ForName("entity") }

// UsePos is where an argument of an index stands.
func (d *Model) UsePos(x *schema.Index, argument string) schema.Pos {
	if m, given := d.SettingOf(x, argument); given {
		return sdl.ArgumentPosition(m.Dir, argument)
	}
	return x.Pos
}

// SettingOf finds what gives an argument of an index.
func (d *Model) SettingOf(x *schema.Index, argument string) (m Marked, given bool) {
	m, given = d.Settings[x][argument]
	return m, given
}

// AuthOf is @auth of a field, nil without.
func (d *Model) AuthOf(f *schema.Field) *schema.Auth {
	dir := d.Sources[f].Directives.ForName("auth")
	if dir == nil {
		return nil
	}
	return &schema.Auth{Groups: sdl.List(dir, "groups"), Owner: sdl.Flag(dir, "owner")}
}

// KeyPos is where the primary key of an entity stands.
func (d *Model) KeyPos() schema.Pos {
	for _, name := range []string{"keys", "primaryKey", "aggregate"} {
		if dir := d.Def.Directives.ForName(name); dir != nil {
			return sdl.Position(dir.Position)
		}
	}
	return d.Pos
}
