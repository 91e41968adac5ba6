package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/queryarg"
)

// Collection is a set of entities that are read together: those that name it on one index of their table.
type Collection struct {
	Name      string // as @gsi and its keys have it
	As        string // in the API: Name, unless @collection says otherwise
	Plugin    string
	Table     *Table
	Index     *PhysicalIndex
	Path      []string // names of the collections that it lies in, the outermost first, its own last
	Clustered bool
	PK        []*Field // composites of its partition key, of the first member; the others' have the same names
	Members   []Member // of it and of the collections within, in order of declaration
	Group     string   // as of Index
	AuthTable *ReadModel
	Pos       Pos // of the index of the first member
}

// Member is an entity of a Collection and the index that makes it one.
type Member struct {
	Model *ReadModel
	Index *Index
}

// APIName is the name of the collection in the API: TenantMembers of tenantMembers.
func (c *Collection) APIName() string { return upperFirst(c.As) }

// Connection is the type of its pages.
func (c *Collection) Connection() string { return c.APIName() + "Connection" }

// Union is the type of its items.
func (c *Collection) Union() string { return c.APIName() + "Item" }

// MemberEnum is the type of the argument only: its values are the types of the members.
func (c *Collection) MemberEnum() string { return c.APIName() + "Member" }

// Prefix is what the sort keys of all members begin with, closed by the separator; "" where the collection is the whole
// partition.
func (c *Collection) Prefix() string {
	member := c.Members[0]
	return c.Table.indexKey(member.Model.Entity.Type, member.Index).CollectionRange(len(c.Path) - 1).Lo
}

// Query is the field of Query that a collection makes.
func (c *Collection) Query() Query {
	q := Query{Name: prefixed(c.Plugin, c.APIName()), Collection: c, Connection: c.Connection(), Required: c.PK}
	q.Args = slices.Concat(fieldNames(c.PK), queryarg.Names(queryarg.Collection, queryarg.Page))
	indexes := make([]*Index, len(c.Members))
	for i, m := range c.Members {
		indexes[i] = m.Index
	}
	q.split(indexes...)
	return q
}

// readCollections groups the indexes of entities by the collections that they name, and holds the members of each
// against one another.
func (l *loader) readCollections() {
	for _, t := range l.model.Tables {
		for _, p := range t.Indexes {
			l.checkCollections(p)
		}
	}
	for _, d := range l.drafts {
		for _, x := range d.Indexes {
			for depth := range x.Collection {
				l.collect(d, x, x.Collection[:depth+1])
			}
		}
	}
	for _, root := range l.api.roots {
		for _, dir := range root.Directives.ForNames("collection") {
			l.nameCollection(dir)
		}
	}
}

// nameCollection gives the collection that a @collection means its name in the API.
func (l *loader) nameCollection(dir *ast.Directive) {
	table, _ := textOf(dir, "table")
	name, _ := textOf(dir, "name")
	index, indexed := textOf(dir, "index")
	as, given := textOf(dir, "as")
	if !given || !namePattern.MatchString(as) {
		l.add(collectionAs.broken(argumentPos(dir, "as"), "", "", name, strconv.Quote(as)))
		return
	}
	var meant *Collection
	for _, c := range l.model.Collections {
		switch {
		case c.Table.Name != table || c.Name != name || indexed && c.Index.Name != index:
		case meant != nil:
			l.add(collectionAmbiguous.broken(at(dir.Position), "", "", name, table, meant.Index.Name, c.Index.Name))
			return
		default:
			meant = c
		}
	}
	switch {
	case meant == nil:
		l.add(collectionUnknown.broken(argumentPos(dir, "name"), "", "", name, table))
	case meant.As != meant.Name:
		l.add(collectionNamedTwice.broken(argumentPos(dir, "as"), "", "", name, table, meant.As))
	default:
		meant.As = as
	}
}

// collect adds an index to the collection of a path.
func (l *loader) collect(d *draft, x *Index, path []string) {
	p := d.Entity.Table.index(x.Name)
	if p == nil { // its table is unknown
		return
	}
	member := Member{d.ReadModel, x}
	for _, c := range l.model.Collections {
		if c.Index == p && slices.Equal(c.Path, path) {
			c.Members = append(c.Members, member)
			return
		}
	}
	l.model.Collections = append(l.model.Collections, &Collection{
		Name: path[len(path)-1], As: path[len(path)-1], Plugin: d.Plugin, Table: d.Entity.Table, Index: p, Path: path, Clustered: x.Clustered,
		PK: x.PK.Fields, Members: []Member{member}, Group: x.Group, AuthTable: x.AuthTable, Pos: x.Pos,
	})
}

// checkCollections holds each member of an index against the first of its outermost collection.
func (l *loader) checkCollections(p *PhysicalIndex) {
	roots := map[string]IndexUse{}
	var first *IndexUse
	for _, u := range p.Uses {
		if len(u.Index.Collection) == 0 {
			continue
		}
		d, x := l.draftOf(u.Model), u.Index
		if first == nil {
			first = &u
		}
		if x.Clustered != first.Index.Clustered {
			d.report(collectionType, d.usePos(x, "type"), nil, p.Name, layoutOf(x), first.Model.Name, layoutOf(first.Index))
		}
		root := x.Collection[0]
		if other, ok := roots[root]; ok {
			d.checkMember(x, other)
		} else {
			roots[root] = u
		}
	}
}

func layoutOf(x *Index) string {
	if x.Clustered {
		return "CLUSTERED"
	}
	return "ISOLATED"
}

func (d *draft) checkMember(x *Index, first IndexUse) {
	root, other := x.Collection[0], first.Index
	if !samePK(x.PK.Fields, other.PK.Fields) {
		d.report(collectionPK, d.usePos(x, "pk"), nil, root, written(x.PK.Fields), first.Model.Name, written(other.PK.Fields))
	}
	if x.Casing != other.Casing {
		d.report(collectionCasing, d.usePos(x, "casing"), nil, root, x.Casing, first.Model.Name, other.Casing)
	}
	if d.Plugin != first.Model.Plugin {
		d.report(collectionPlugin, d.settingPos("plugin"), nil, root, first.Model.Name)
	}
	if x.Group != other.Group || x.AuthTable != other.AuthTable {
		d.report(collectionAccess, d.usePos(x, "group"), nil, root, first.Model.Name)
	}
}

func samePK(a, b []*Field) bool {
	return slices.EqualFunc(a, b, func(a, b *Field) bool { return a.Name == b.Name && sameKind(a, b) })
}

// written are fields as the schema writes them: "tenantId: ID".
func written(fields []*Field) string {
	if len(fields) == 0 {
		return "nothing"
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.Name + ": " + typeText(f)
	}
	return strings.Join(texts, ", ")
}
