package entity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// collectionReader groups indexes of entities into collections.
type collectionReader struct{ *draft.Project }

// ReadCollections groups the indexes of entities by the collections that they name.
func ReadCollections(p *draft.Project) { (&collectionReader{p}).read() }

// read groups the indexes of entities by the collections that they name, and holds the members of each
// against one another.
func (l *collectionReader) read() {
	for _, t := range l.Model.Tables {
		for _, p := range t.Indexes {
			l.checkCollections(p)
		}
	}
	for _, d := range l.ReadModels {
		for _, x := range d.Indexes {
			for depth := range x.Collection {
				l.collect(d, x, x.Collection[:depth+1])
			}
		}
	}
	for _, root := range l.API.Roots {
		for _, dir := range root.Directives.ForNames("collection") {
			l.nameCollection(dir)
		}
	}
}

// nameCollection gives the collection that a @collection means its name in the API.
func (l *collectionReader) nameCollection(dir *ast.Directive) {
	table, _ := sdl.Text(dir, "table")
	name, _ := sdl.Text(dir, "name")
	index, indexed := sdl.Text(dir, "index")
	as, given := sdl.Text(dir, "as")
	if !given || !draft.NamePattern.MatchString(as) {
		l.Add(rule.CollectionAs.Broken(sdl.ArgumentPosition(dir, "as"), "", "", name, strconv.Quote(as)))
		return
	}
	var meant *schema.Collection
	for _, c := range l.Model.Collections {
		switch {
		case c.Table.Name != table || c.Name != name || indexed && c.Index.Name != index:
		case meant != nil:
			l.Add(rule.CollectionAmbiguous.Broken(sdl.Position(dir.Position), "", "", name, table, meant.Index.Name,
				c.Index.Name, apart(meant, c)))
			return
		default:
			meant = c
		}
	}
	switch {
	case meant == nil:
		l.Add(rule.CollectionUnknown.Broken(sdl.ArgumentPosition(dir, "name"), "", "", name, table))
	case meant.As != meant.Name:
		l.Add(rule.CollectionNamedTwice.Broken(sdl.ArgumentPosition(dir, "as"), "", "", name, table, meant.As))
	default:
		meant.As = as
	}
}

// apart is how to tell two collections of one name apart.
func apart(c, o *schema.Collection) string {
	if c.Index == o.Index {
		return fmt.Sprintf("give one of them another name in its keys, in the last place of collection: %s or %s",
			schema.QuotedList(c.Path), schema.QuotedList(o.Path))
	}
	return fmt.Sprintf("add index: %q or index: %q", c.Index.Name, o.Index.Name)
}

// collect adds an index to the collection of a path.
func (l *collectionReader) collect(d *draft.Model, x *schema.Index, path []string) {
	p := d.Entity.Table.IndexNamed(x.Name)
	if p == nil { // its table is unknown
		return
	}
	member := schema.Member{Model: d.ReadModel, Index: x}
	for _, c := range l.Model.Collections {
		if c.Index == p && slices.Equal(c.Path, path) {
			c.Members = append(c.Members, member)
			return
		}
	}
	l.Model.Collections = append(l.Model.Collections, &schema.Collection{
		Name: path[len(path)-1], As: path[len(path)-1], Plugin: d.Plugin, Table: d.Entity.Table, Index: p, Path: path,
		Clustered: x.Clustered,
		PK:        x.PK.Fields, Members: []schema.Member{member}, Group: x.Group, AuthTable: x.AuthTable, Pos: x.Pos,
	})
}

// checkCollections holds each member of an index against the first of its outermost collection.
func (l *collectionReader) checkCollections(p *schema.PhysicalIndex) {
	roots := map[string]schema.IndexUse{}
	var first *schema.IndexUse
	for _, u := range p.Uses {
		if len(u.Index.Collection) == 0 {
			continue
		}
		d, x := l.DraftOf(u.Model), u.Index
		if first == nil {
			first = &u
		}
		if x.Clustered != first.Index.Clustered {
			d.Report(rule.CollectionType, d.UsePos(x, "type"), nil, p.Name, layoutOf(x), first.Model.Name, layoutOf(first.Index))
		}
		root := x.Collection[0]
		if other, ok := roots[root]; ok {
			checkMember(d, x, other)
		} else {
			roots[root] = u
		}
	}
}

func layoutOf(x *schema.Index) string {
	if x.Clustered {
		return "CLUSTERED"
	}
	return "ISOLATED"
}

func checkMember(d *draft.Model, x *schema.Index, first schema.IndexUse) {
	root, other := x.Collection[0], first.Index
	if !samePK(x.PK.Fields, other.PK.Fields) {
		d.Report(rule.CollectionPK, d.UsePos(x, "pk"), nil, root, written(x.PK.Fields), first.Model.Name,
			written(other.PK.Fields))
	}
	if x.Casing != other.Casing {
		d.Report(rule.CollectionCasing, d.UsePos(x, "casing"), nil, root, x.Casing, first.Model.Name, other.Casing)
	}
	if d.Plugin != first.Model.Plugin {
		d.Report(rule.CollectionPlugin, d.SettingPos("plugin"), nil, root, first.Model.Name)
	}
	if x.Group != other.Group || x.AuthTable != other.AuthTable {
		d.Report(rule.CollectionAccess, d.UsePos(x, "group"), nil, root, first.Model.Name)
	}
}

func samePK(a, b []*schema.Field) bool {
	return slices.EqualFunc(a, b, func(a, b *schema.Field) bool { return a.Name == b.Name && schema.SameKind(a, b) })
}

// written are fields as the schema writes them: "tenantId: ID".
func written(fields []*schema.Field) string {
	if len(fields) == 0 {
		return "nothing"
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.Name + ": " + schema.TypeText(f)
	}
	return strings.Join(texts, ", ")
}
