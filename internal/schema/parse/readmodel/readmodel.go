// Package readmodel reads types with @readModel or @stateView: their fields, what these refer to, who writes them, keys
// and indexes of tables of their own, times, joins, and who may read what.
package readmodel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/aggregate"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/parse/stored"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// modelReader reads which types are read models.
type modelReader struct{ *draft.Project }

// headReader reads what the annotation of a read model says of the row.
type headReader struct{ *draft.Model }

// Declare reads heads and fields of all read models.
func Declare(p *draft.Project) { (&modelReader{p}).declare() }

// CheckTables finds tables and projectors that two models would share.
func CheckTables(p *draft.Project) { (&modelReader{p}).checkTables() }

// ReadKeys reads the primary key and the indexes of a model with a table of its own.
func ReadKeys(d *draft.Model) {
	(&keyReader{d}).readKey()
	(&indexReader{d}).readIndexes()
}

// ReadFieldRoles reads who writes the fields of a model, which of them hold its times, which its owner, and by which
// its rows are filtered. Its keys are known.
func ReadFieldRoles(d *draft.Model) {
	(&keyReader{d}).checkSingleton()
	(&timeReader{d}).readTimes()
	(&writerReader{d}).readWrites()
	(&accessReader{d}).readOwner()
	(&filterReader{d}).readFilters()
}

// ReadJoinsAndAccess reads what refers to other models, whose keys and owners are known.
func ReadJoinsAndAccess(d *draft.Model) {
	(&joinReader{d}).readJoins()
	(&accessReader{d}).readAccess()
	(&filterReader{d}).checkOffered()
	if d.SeriesOf == nil {
		(&tagChecker{d}).checkTags()
	}
}

// CheckReferences holds identifiers and references against the keys, the writers and the rules of their models, which
// are known.
func CheckReferences(d *draft.Model) {
	c := &referenceChecker{d}
	c.checkIdentifier()
	c.checkReferences()
}

// declare reads heads and fields of all read models.
func (l *modelReader) declare() {
	for _, def := range l.API.Types {
		if def.Kind != ast.Object || sdl.IsRoot(def.Name) {
			continue
		}
		if d := l.newDraft(def); d != nil {
			l.ReadModels = append(l.ReadModels, d)
			l.Model.ReadModels = append(l.Model.ReadModels, d.ReadModel)
		}
	}
	unclear := func(def *ast.Definition) bool { return l.API.Unclear(def.Name) }
	if len(l.ReadModels) == 0 && len(l.Found.Errors()) == 0 && !slices.ContainsFunc(l.API.Types, unclear) {
		l.Add(rule.NoModels.Broken(l.Start(), "", ""))
	}
	stored.Finish(l.Project)
}

func (l *modelReader) newDraft(def *ast.Definition) *draft.Model {
	marks := slices.DeleteFunc(slices.Clone(def.Directives), func(d *ast.Directive) bool {
		return !sdl.IsModelMark(d.Name)
	})
	if len(marks) == 0 {
		return nil
	}
	d := &draft.Model{
		ReadModel: &schema.ReadModel{Name: def.Name, Description: def.Description, Table: def.Name, Version: 1,
			Pos: sdl.Position(def.Position)},
		Project: l.Project, Def: def, Marks: marks, Sources: map[*schema.Field]*ast.FieldDefinition{},
		Settings: map[*schema.Index]map[string]draft.Marked{},
	}
	if len(def.Interfaces) > 0 {
		d.Report(rule.Implements, d.Pos, nil, strings.Join(def.Interfaces, " & "))
	}
	(&headReader{d}).readHead()
	if sdl.IsAggregate(def) {
		aggregate.ReadFields(d)
		return d
	}
	for _, f := range def.Fields {
		aggregate.CheckOutside(d, f)
		stored.Read(d, f)
	}
	return d
}

// readHead reads the arguments of @readModel or @stateView that hold for the row, whoever writes it.
func (d *headReader) readHead() {
	if m := d.Setting("plugin"); m != nil {
		d.Plugin, _ = sdl.Text(m, "plugin")
	}
	if m := d.Setting("table"); m != nil {
		d.Table, _ = sdl.Text(m, "table")
	}
	if m := d.Setting("atomic"); m != nil {
		d.Atomic = sdl.Flag(m, "atomic")
	}
	if m := d.Setting("version"); m != nil {
		text, _ := sdl.Text(m, "version")
		d.Version, _ = strconv.Atoi(text) // a sound Int
	}
	d.checkHead()
	(&writerReader{d.Model}).readWriters()
}

func (d *headReader) checkHead() {
	if d.Version < 1 {
		d.Report(rule.VersionRange, d.SettingPos("version"), nil, strconv.Itoa(d.Version))
	}
	if d.Plugin != "" && !draft.NamePattern.MatchString(d.Plugin) {
		d.Report(rule.PluginName, d.SettingPos("plugin"), nil, strconv.Quote(d.Plugin))
	}
	if !draft.TablePattern.MatchString(d.Table) || d.Table == "foldql" {
		d.Report(rule.TableName, d.SettingPos("table"), nil, strconv.Quote(d.Table))
	}
}

// checkTables finds tables and projectors that two models would share.
func (l *modelReader) checkTables() {
	tables, projectors := map[string]*draft.Model{}, map[string]*draft.Model{}
	for _, d := range l.ReadModels {
		if other := tables[d.Table]; other != nil {
			d.Report(rule.TableTaken, d.SettingPos("table"), nil, d.Table, other.Name)
		} else {
			tables[d.Table] = d
		}
		for i, w := range d.Writers {
			if len(d.Marks) > 1 && d.Marks[i].Arguments.ForName("projector") == nil {
				continue // reported as incomplete
			}
			if other := projectors[w.Projector]; other != nil {
				d.Report(rule.ProjectorTaken, sdl.ArgumentPosition(d.Marks[i], "projector"), nil, w.Projector, other.Name)
			} else {
				projectors[w.Projector] = d
			}
		}
	}
}
