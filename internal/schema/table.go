package schema

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Table is a table that entities share.
type Table struct {
	Name          string
	Schema        string // "" where it has none; entities with composed keys have one
	Version       int
	Casing        string // of composed keys: LOWERCASE UPPERCASE NONE
	Escape        string // PERCENT NONE
	PK, SK        string // names of its key attributes
	Discriminator string // name of the attribute that holds Entity.Type
	Entities      []*ReadModel
	Indexes       []*PhysicalIndex // in order of first use
	Pos           Pos

	templateCasing string
	dir            *ast.Directive
}

// Entity says where the rows of a model lie that has no table of its own.
type Entity struct {
	Table *Table
	Type  string // in keys and in the discriminator; default: name of the model
}

// PhysicalIndex is an index of a table that entities share.
type PhysicalIndex struct {
	Name       string
	PK, SK     string   // names of its key attributes; SK is "" where it has no sort key
	Projection string   // what the projections of all that use it need together: ALL KEYS_ONLY INCLUDE
	Include    []string // fields of entities, under INCLUDE
	Uses       []IndexUse
	Pos        Pos // of its first use
}

// IndexUse is an index of an entity that lies in a physical index.
type IndexUse struct {
	Model *ReadModel
	Index *Index
}

var keyNamePattern = regexp.MustCompile(`^[!-"$&-~]{1,128}$`) // printable, neither # nor %

// readTables reads every @table.
func (l *loader) readTables() {
	for _, root := range l.api.roots {
		for _, dir := range root.Directives.ForNames("table") {
			if name, ok := textOf(dir, "name"); ok {
				l.readTable(dir, name)
			}
		}
	}
}

func (l *loader) readTable(dir *ast.Directive, name string) {
	t := newTable(name)
	t.Pos, t.dir = at(dir.Position), dir
	t.Schema, _ = textOf(dir, "schema")
	for argument, target := range map[string]*string{
		"escape": &t.Escape, "pk": &t.PK, "sk": &t.SK, "discriminator": &t.Discriminator,
	} {
		if text, ok := textOf(dir, argument); ok {
			*target = text
		}
	}
	if casing, ok := textOf(dir, "casing"); ok {
		t.Casing, t.templateCasing = casing, casing
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
}

func newTable(name string) *Table {
	return &Table{
		Name: name, Version: 1, Casing: lowercase, templateCasing: noCasing, Escape: escapeValues,
		PK: "pk", SK: "sk", Discriminator: "__edd_e__",
	}
}

// sharedTable is the table of that name, nil for none.
func (l *loader) sharedTable(name string) *Table {
	for _, t := range l.model.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (l *loader) sharedTables() string {
	names := make([]string, len(l.model.Tables))
	for i, t := range l.model.Tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// checkSharedTables holds the entities of each table against one another.
func (l *loader) checkSharedTables() {
	for _, t := range l.model.Tables {
		if len(t.Entities) == 0 {
			l.add(tableUnused.broken(t.Pos, "", "", t.Name))
		}
		l.checkEntityTypes(t)
		l.readPhysicalIndexes(t)
		l.checkAttributes(t)
	}
	for _, d := range l.drafts {
		if t := l.sharedTable(d.Table); t != nil && d.Entity == nil {
			d.report(sharedTableTaken, d.settingPos("table"), nil, d.Table)
		}
	}
}

// checkEntityTypes finds types that keys could not tell apart.
func (l *loader) checkEntityTypes(t *Table) {
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
