package schema

import (
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// tableReader reads the tables that entities share.
type tableReader struct{ *Project }

// readTables reads every @table.
func readTables(p *Project) { (&tableReader{p}).read() }

// checkSharedTables collects the indexes of each table from its entities, and holds the entities against one another.
func checkSharedTables(p *Project) { (&tableReader{p}).checkShared() }

// read reads every @table.
func (l *tableReader) read() {
	for _, root := range l.api.roots {
		for _, dir := range root.Directives.ForNames("table") {
			if name, ok := textOf(dir, "name"); ok {
				l.readTable(dir, name)
			}
		}
	}
}

func (l *tableReader) readTable(dir *ast.Directive, name string) {
	t := newTable(name)
	t.Pos = at(dir.Position)
	t.Schema, _ = textOf(dir, "schema")
	for argument, target := range map[string]*string{
		"escape": &t.Escape, "pk": &t.PK, "sk": &t.SK, "discriminator": &t.Discriminator,
	} {
		if text, ok := textOf(dir, argument); ok {
			*target = text
		}
	}
	if casing, ok := textOf(dir, "casing"); ok {
		t.Casing, t.TemplateCasing = casing, casing
	}
	if version, ok := textOf(dir, "version"); ok {
		t.Version, _ = strconv.Atoi(version) // a sound Int
	}
	if !tablePattern.MatchString(name) || name == "foldql" {
		l.add(sharedTableName.broken(argumentPos(dir, "name"), "", "", strconv.Quote(name)))
	}
	if t.Version < 1 {
		l.add(tableVersion.broken(argumentPos(dir, "version"), "", "", name, strconv.Itoa(t.Version)))
	}
	if t.Schema != "" && !keyNamePattern.MatchString(t.Schema) {
		l.add(schemaName.broken(argumentPos(dir, "schema"), "", "", name, strconv.Quote(t.Schema)))
	}
	if l.sharedTable(name) != nil {
		l.add(tableTwice.broken(t.Pos, "", "", name))
		return
	}
	l.model.Tables = append(l.model.Tables, t)
	l.tableDirs[t] = dir
}

// checkShared holds the entities of each table against one another.
func (l *tableReader) checkShared() {
	for _, t := range l.model.Tables {
		if len(t.Entities) == 0 {
			l.add(tableUnused.broken(t.Pos, "", "", t.Name))
		}
		l.checkEntityTypes(t)
		uses := &indexUses{l.Project}
		uses.readPhysicalIndexes(t)
		uses.checkAttributes(t)
	}
	for _, d := range l.drafts {
		if t := l.sharedTable(d.Table); t != nil && d.Entity == nil {
			d.report(sharedTableTaken, d.settingPos("table"), nil, d.Table)
		}
	}
}

// checkEntityTypes finds types that keys could not tell apart.
func (l *tableReader) checkEntityTypes(t *Table) {
	first := map[string]*ReadModel{}
	for _, m := range t.Entities {
		d := l.draftOf(m)
		folded := strings.ToLower(m.Entity.Type)
		if other := first[folded]; other != nil {
			d.report(entityTypeTwice, argumentPos(d.entityDir(), "type"), nil, m.Entity.Type, other.Name, other.Entity.Type)
			continue
		}
		first[folded] = m
	}
}
