package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// collectionReader groups indexes of entities into collections.
type collectionReader struct{ *Project }

// readCollections groups the indexes of entities by the collections that they name.
func readCollections(p *Project) { (&collectionReader{p}).read() }

// read groups the indexes of entities by the collections that they name, and holds the members of each
// against one another.
func (l *collectionReader) read() {
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
func (l *collectionReader) nameCollection(dir *ast.Directive) {
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
func (l *collectionReader) collect(d *ModelDraft, x *Index, path []string) {
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
func (l *collectionReader) checkCollections(p *PhysicalIndex) {
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
			checkMember(d, x, other)
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

func checkMember(d *ModelDraft, x *Index, first IndexUse) {
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
