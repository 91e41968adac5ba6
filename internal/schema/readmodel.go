package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// draft is a read model while it is read: what it becomes, and where it comes from.
type draft struct {
	*ReadModel
	l       *loader
	def     *ast.Definition
	marks   []*ast.Directive // @readModel and @stateView, one for each of Writers
	sources map[*Field]*ast.FieldDefinition
	// settings are the arguments of each index, with what gives them.
	settings map[*Index]map[string]marked
}

// report adds a broken rule at a field of the model; a nil field means the model itself.
func (d *draft) report(r *rule, pos Pos, f *Field, args ...string) {
	name := ""
	if f != nil {
		name = f.Name
	}
	d.l.add(r.broken(pos, d.Name, name, args...))
}

// marked are the fields that bear a directive, in order of declaration.
func (d *draft) marked(directive string) []marked {
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

func (d *draft) field(name string) *Field {
	i := slices.IndexFunc(d.Fields, func(f *Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return d.Fields[i]
}

func isModelMark(directive string) bool { return directive == "readModel" || directive == "stateView" }

// declareModels reads heads and fields of all read models.
func (l *loader) declareModels() {
	for _, def := range l.api.types {
		if def.Kind != ast.Object || isRoot(def.Name) {
			continue
		}
		if d := l.newDraft(def); d != nil {
			l.drafts = append(l.drafts, d)
			l.model.ReadModels = append(l.model.ReadModels, d.ReadModel)
		}
	}
	if len(l.drafts) == 0 && len(l.found.Errors()) == 0 {
		l.add(noModels.broken(l.start(), "", ""))
	}
	l.readEnums()
	l.checkTables()
}

func (l *loader) newDraft(def *ast.Definition) *draft {
	marks := slices.DeleteFunc(slices.Clone(def.Directives), func(d *ast.Directive) bool { return !isModelMark(d.Name) })
	if len(marks) == 0 {
		return nil
	}
	d := &draft{
		ReadModel: &ReadModel{Name: def.Name, Description: def.Description, Table: def.Name, Version: 1, Pos: at(def.Position)},
		l:         l, def: def, marks: marks, sources: map[*Field]*ast.FieldDefinition{},
		settings: map[*Index]map[string]marked{},
	}
	if len(def.Interfaces) > 0 {
		d.report(implements, d.Pos, nil, strings.Join(def.Interfaces, " & "))
	}
	d.readHead()
	for _, f := range def.Fields {
		d.readField(f)
	}
	d.readEntity()
	return d
}

var (
	namePattern      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	projectorPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	tablePattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
)

// readHead reads the arguments of @readModel or @stateView that hold for the row, whoever writes it.
func (d *draft) readHead() {
	if m := d.setting("plugin"); m != nil {
		d.Plugin, _ = textOf(m, "plugin")
	}
	if m := d.setting("table"); m != nil {
		d.Table, _ = textOf(m, "table")
	}
	if m := d.setting("atomic"); m != nil {
		d.Atomic = flagOf(m, "atomic")
	}
	if m := d.setting("version"); m != nil {
		text, _ := textOf(m, "version")
		d.Version, _ = strconv.Atoi(text) // a sound Int
	}
	d.checkHead()
	d.readWriters()
}

func (d *draft) checkHead() {
	if d.Version < 1 {
		d.report(versionRange, d.settingPos("version"), nil, strconv.Itoa(d.Version))
	}
	if d.Plugin != "" && !namePattern.MatchString(d.Plugin) {
		d.report(pluginName, d.settingPos("plugin"), nil, strconv.Quote(d.Plugin))
	}
	if !tablePattern.MatchString(d.Table) || d.Table == "foldql" {
		d.report(tableName, d.settingPos("table"), nil, strconv.Quote(d.Table))
	}
}

// checkTables finds tables and projectors that two models would share.
func (l *loader) checkTables() {
	tables, projectors := map[string]*draft{}, map[string]*draft{}
	for _, d := range l.drafts {
		if other := tables[d.Table]; other != nil {
			d.report(tableTaken, d.settingPos("table"), nil, d.Table, other.Name)
		} else {
			tables[d.Table] = d
		}
		for i, w := range d.Writers {
			if len(d.marks) > 1 && d.marks[i].Arguments.ForName("projector") == nil {
				continue // reported as incomplete
			}
			if other := projectors[w.Projector]; other != nil {
				d.report(projectorTaken, argumentPos(d.marks[i], "projector"), nil, w.Projector, other.Name)
			} else {
				projectors[w.Projector] = d
			}
		}
	}
}

// draftOf is the draft of a model.
func (l *loader) draftOf(m *ReadModel) *draft {
	i := slices.IndexFunc(l.drafts, func(d *draft) bool { return d.ReadModel == m })
	return l.drafts[i]
}

// byTable is the model of a table, nil for none.
func (l *loader) byTable(table string) *draft {
	i := slices.IndexFunc(l.drafts, func(d *draft) bool { return d.Table == table })
	if i < 0 {
		return nil
	}
	return l.drafts[i]
}

// start is the beginning of the first file.
func (l *loader) start() Pos {
	if len(l.files) == 0 {
		return Pos{}
	}
	return Pos{File: l.files[0], Line: 1, Column: 1}
}
