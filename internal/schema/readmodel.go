package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// modelReader reads which types are read models.
type modelReader struct{ *Project }

// headReader reads what the annotation of a read model says of the row.
type headReader struct{ *ModelDraft }

// declareModels reads heads and fields of all read models.
func declareModels(p *Project) { (&modelReader{p}).declare() }

// checkTables finds tables and projectors that two models would share.
func checkTables(p *Project) { (&modelReader{p}).checkTables() }

// readKeys reads the primary key and the indexes of a model with a table of its own.
func readKeys(d *ModelDraft) {
	(&keyReader{d}).readKey()
	(&indexReader{d}).readIndexes()
}

// readFieldRoles reads who writes the fields of a model, which of them hold its times, and which its owner. Its keys are
// known.
func readFieldRoles(d *ModelDraft) {
	(&keyReader{d}).checkSingleton()
	(&writerReader{d}).readWrites()
	(&timeReader{d}).readTimes()
	(&accessReader{d}).readOwner()
}

// readJoinsAndAccess reads what refers to other models, whose keys and owners are known.
func readJoinsAndAccess(d *ModelDraft) {
	(&joinReader{d}).readJoins()
	(&accessReader{d}).readAccess()
	(&tagChecker{d}).checkTags()
}

// declare reads heads and fields of all read models.
func (l *modelReader) declare() {
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
}

func (l *modelReader) newDraft(def *ast.Definition) *ModelDraft {
	marks := slices.DeleteFunc(slices.Clone(def.Directives), func(d *ast.Directive) bool { return !isModelMark(d.Name) })
	if len(marks) == 0 {
		return nil
	}
	d := &ModelDraft{
		ReadModel: &ReadModel{Name: def.Name, Description: def.Description, Table: def.Name, Version: 1, Pos: at(def.Position)},
		project:   l.Project, def: def, marks: marks, sources: map[*Field]*ast.FieldDefinition{},
		settings: map[*Index]map[string]marked{},
	}
	if len(def.Interfaces) > 0 {
		d.report(implements, d.Pos, nil, strings.Join(def.Interfaces, " & "))
	}
	(&headReader{d}).readHead()
	for _, f := range def.Fields {
		(&fieldReader{d}).readField(f)
	}
	return d
}

// readHead reads the arguments of @readModel or @stateView that hold for the row, whoever writes it.
func (d *headReader) readHead() {
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
	(&writerReader{d.ModelDraft}).readWriters()
}

func (d *headReader) checkHead() {
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
func (l *modelReader) checkTables() {
	tables, projectors := map[string]*ModelDraft{}, map[string]*ModelDraft{}
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
