// Package entity reads models that share a table: @table, @entity, the keys and indexes of entities, written as
// composites or as templates, and the collections that they form.
package entity

import (
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// tableReader reads the tables that entities share.
type tableReader struct{ *draft.Project }

// ReadTables reads every @table.
func ReadTables(p *draft.Project) { (&tableReader{p}).read() }

// CheckTables collects the indexes of each table from its entities, and holds the entities against one another.
func CheckTables(p *draft.Project) { (&tableReader{p}).checkShared() }

// read reads every @table.
func (l *tableReader) read() {
	for _, root := range l.API.Roots {
		for _, dir := range root.Directives.ForNames("table") {
			if name, ok := sdl.Text(dir, "name"); ok {
				l.readTable(dir, name)
			}
		}
	}
}

func (l *tableReader) readTable(dir *ast.Directive, name string) {
	t := schema.NewTable(name)
	t.Pos = sdl.Position(dir.Position)
	t.Schema, _ = sdl.Text(dir, "schema")
	for argument, target := range map[string]*string{
		"escape": &t.Escape, "pk": &t.PK, "sk": &t.SK, "discriminator": &t.Discriminator,
	} {
		if text, ok := sdl.Text(dir, argument); ok {
			*target = text
		}
	}
	if casing, ok := sdl.Text(dir, "casing"); ok {
		t.Casing, t.TemplateCasing = casing, casing
	}
	if version, ok := sdl.Text(dir, "version"); ok {
		t.Version, _ = strconv.Atoi(version) // a sound Int
	}
	if !draft.TablePattern.MatchString(name) || name == "foldql" {
		l.Add(rule.SharedTableName.Broken(sdl.ArgumentPosition(dir, "name"), "", "", strconv.Quote(name)))
	}
	if t.Version < 1 {
		l.Add(rule.TableVersion.Broken(sdl.ArgumentPosition(dir, "version"), "", "", name, strconv.Itoa(t.Version)))
	}
	if t.Schema != "" && !draft.KeyNamePattern.MatchString(t.Schema) {
		l.Add(rule.SchemaName.Broken(sdl.ArgumentPosition(dir, "schema"), "", "", name, strconv.Quote(t.Schema)))
	}
	if l.SharedTable(name) != nil {
		l.Add(rule.TableTwice.Broken(t.Pos, "", "", name))
		return
	}
	l.Model.Tables = append(l.Model.Tables, t)
	l.TableDirs[t] = dir
}

// checkShared holds the entities of each table against one another.
func (l *tableReader) checkShared() {
	for _, t := range l.Model.Tables {
		if len(t.Entities) == 0 {
			l.Add(rule.TableUnused.Broken(t.Pos, "", "", t.Name))
		}
		l.checkEntityTypes(t)
		uses := &indexUses{l.Project}
		uses.readPhysicalIndexes(t)
		uses.checkAttributes(t)
	}
	for _, d := range l.ReadModels {
		if t := l.SharedTable(d.Table); t != nil && d.Entity == nil {
			d.Report(rule.SharedTableTaken, d.SettingPos("table"), nil, d.Table)
		}
	}
}

// checkEntityTypes finds types that keys could not tell apart.
func (l *tableReader) checkEntityTypes(t *schema.Table) {
	first := map[string]entityType{}
	for _, m := range t.Entities {
		if m.Aggregate != nil {
			l.checkItemTypes(m, first)
			continue
		}
		folded := strings.ToLower(m.Entity.Type)
		if other, taken := first[folded]; taken {
			l.reportTypeTwice(m, other)
			continue
		}
		first[folded] = entityType{m.Name, m.Entity.Type}
	}
}

// entityType is a type of rows or items of a table, and the model that has it.
type entityType struct{ model, name string }

// reportTypeTwice reports the type of an entity where it is declared: that of a history at the series.
func (l *tableReader) reportTypeTwice(m *schema.ReadModel, other entityType) {
	r, at := rule.EntityTypeTwice, l.DraftOf(m)
	if m.SeriesOf != nil {
		r, at = rule.SeriesEntityType, l.DraftOf(m.SeriesOf)
	}
	at.Report(r, sdl.ArgumentPosition(at.EntityDir(), "type"), nil, m.Entity.Type, other.model, other.name)
}

// checkItemTypes takes the types of the items of an aggregate, of which several parts may have one.
func (l *tableReader) checkItemTypes(m *schema.ReadModel, first map[string]entityType) {
	for _, n := range m.Aggregate.Root.All() {
		pos, typ, field := l.DraftOf(m).KeyPos(), m.Name, ""
		if n.Edge != nil {
			pos, typ, field = n.Edge.Pos, l.PartOf(n.Edge).Name, n.Edge.Field.Name
		}
		folded := strings.ToLower(n.Kind)
		if other, taken := first[folded]; taken && other.model != m.Name {
			l.Add(rule.EntityTypeTwice.Broken(pos, typ, field, n.Kind, other.model, other.name))
			continue
		}
		first[folded] = entityType{m.Name, n.Kind}
	}
}
