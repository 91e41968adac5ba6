package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// ModelDraft is a read model while it is read: what it becomes, and where it comes from.
type ModelDraft struct {
	*ReadModel
	project *Project
	def     *ast.Definition
	marks   []*ast.Directive // @readModel and @stateView, one for each of Writers
	sources map[*Field]*ast.FieldDefinition
	// settings are the arguments of each index, with what gives them.
	settings map[*Index]map[string]marked
}

// report adds a broken rule at a field of the model; a nil field means the model itself.
func (d *ModelDraft) report(r *rule, pos Pos, f *Field, args ...string) {
	name := ""
	if f != nil {
		name = f.Name
	}
	d.project.add(r.broken(pos, d.Name, name, args...))
}

// marked are the fields that bear a directive, in order of declaration.
func (d *ModelDraft) marked(directive string) []marked {
	var ms []marked
	for _, f := range d.Fields {
		for _, dir := range d.sources[f].Directives.ForNames(directive) {
			ms = append(ms, marked{f, dir})
		}
	}
	return ms
}

// marked is a field and a directive on it.
type marked struct {
	field *Field
	dir   *ast.Directive
}

func (d *ModelDraft) field(name string) *Field {
	i := slices.IndexFunc(d.Fields, func(f *Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return d.Fields[i]
}

func isModelMark(directive string) bool { return directive == "readModel" || directive == "stateView" }

// setting is the annotation that gives an argument that holds for the row and not for one of its writers, nil for none.
func (d *ModelDraft) setting(argument string) *ast.Directive {
	var first *ast.Directive
	for _, m := range d.marks {
		a := m.Arguments.ForName(argument)
		switch {
		case a == nil:
		case first == nil:
			first = m
		case first.Arguments.ForName(argument).Value.String() != a.Value.String():
			d.report(writerConflict, at(a.Position), nil, argument)
		}
	}
	return first
}

// settingPos is where the argument stands that setting finds, else the first annotation.
func (d *ModelDraft) settingPos(argument string) Pos {
	for _, m := range d.marks {
		if m.Arguments.ForName(argument) != nil {
			return argumentPos(m, argument)
		}
	}
	return at(d.marks[0].Position)
}

func (d *ModelDraft) entityDir() *ast.Directive { return d.def.Directives.ForName("entity") }

// usePos is where an argument of an index stands.
func (d *ModelDraft) usePos(x *Index, argument string) Pos {
	if m, given := d.settingOf(x, argument); given {
		return argumentPos(m.dir, argument)
	}
	return x.Pos
}

// settingOf finds what gives an argument of an index.
func (d *ModelDraft) settingOf(x *Index, argument string) (m marked, given bool) {
	m, given = d.settings[x][argument]
	return m, given
}

// authOf is @auth of a field, nil without.
func (d *ModelDraft) authOf(f *Field) *Auth {
	dir := d.sources[f].Directives.ForName("auth")
	if dir == nil {
		return nil
	}
	return &Auth{Groups: listOf(dir, "groups"), Owner: flagOf(dir, "owner")}
}

// keyPos is where the primary key of an entity stands.
func (d *ModelDraft) keyPos() Pos {
	for _, name := range []string{"keys", "primaryKey"} {
		if dir := d.def.Directives.ForName(name); dir != nil {
			return at(dir.Position)
		}
	}
	return d.Pos
}
