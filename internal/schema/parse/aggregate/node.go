package aggregate

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// readRoot makes the tree of all parts at their places, each with the keys of its items.
func (k *keyReader) readRoot() {
	k.checkName("the root", k.Entity.Type, sdl.ArgumentPosition(k.dir, "root"))
	k.SK = k.Entity.Table.Item(k.Entity.Type, nil, nil)
	root := &schema.Node{Kind: k.Entity.Type, SK: k.SK, Fields: k.Fields, References: inItem(k.References),
		Own: own(k.Fields)}
	k.Aggregate.Root = root
	k.grow(root, k.Project.Parts[k.Def], nil)
	k.checkParts(root)
}

// grow adds what a part consists of to its node. way are the types that lead to it.
func (k *keyReader) grow(n *schema.Node, part *draft.Part, way []*draft.Part) {
	if slices.Contains(way, part) {
		return // reported as a cycle
	}
	for _, e := range part.Edges {
		if e.Field.Object == nil {
			continue // reported as wrong
		}
		readElements(part, e)
		c := &schema.Node{Name: e.Field.Name, Kind: e.Kind, Edge: e.Edge, Fields: e.Field.Object.Fields}
		if n.Name != "" {
			c.Name = n.Name + "." + c.Name
		}
		c.Discriminators = slices.Concat(n.Discriminators, e.Discriminators)
		c.SK = k.Entity.Table.Item(e.Kind, c.Discriminators, e.SK)
		var references []*schema.Reference
		if e.Part != nil {
			references = e.Part.References
		}
		c.References, c.Own = inItem(references), own(c.Fields)
		for _, f := range k.Aggregate.Context {
			if !slices.ContainsFunc(c.Own, func(o *schema.Field) bool { return o.Name == f.Name }) {
				c.Context = append(c.Context, f)
			}
		}
		n.Children = append(n.Children, c)
		if e.Part != nil {
			k.grow(c, e.Part, append(way[:len(way):len(way)], part))
		}
	}
}

// inItem are the references whose copies stand in the item itself.
func inItem(all []*schema.Reference) []*schema.Reference {
	return slices.DeleteFunc(slices.Clone(all), func(r *schema.Reference) bool { return r.Copy.Item })
}

// own are the fields that an item holds itself.
func own(fields []*schema.Field) []*schema.Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *schema.Field) bool { return f.Item })
}

// readElements reads what tells the elements of a list apart, and their order.
func readElements(part *draft.Part, e *draft.Edge) {
	if !e.Many || e.SK != nil {
		return
	}
	l := &elementReader{part, e}
	for _, name := range sdl.List(e.Dir, "sk") {
		if f := l.field("sk", name); f != nil {
			e.SK = append(e.SK, f)
		}
	}
	if e.Dir.Arguments.ForName("sk") == nil {
		l.defaultKey()
	}
	if name, given := sdl.Text(e.Dir, "orderBy"); given {
		e.OrderBy = l.field("orderBy", name)
	}
}

// elementReader reads the elements of a list of parts.
type elementReader struct {
	*draft.Part
	edge *draft.Edge
}

// field finds a field of the elements; nil where it is reported as none that has an order.
func (l *elementReader) field(argument, name string) *schema.Field {
	fields, typ := l.edge.Field.Object.Fields, l.edge.Field.Object.Name
	wrong := ""
	i := slices.IndexFunc(fields, func(f *schema.Field) bool { return f.Name == name })
	switch {
	case i < 0:
		wrong = "does not exist"
	case fields[i].List:
		wrong = "is a list"
	case fields[i].Object != nil:
		wrong = "is an object"
	case fields[i].Nullable:
		wrong = "may be null"
	default:
		return fields[i]
	}
	l.Report(rule.ElementField, sdl.ArgumentPosition(l.edge.Dir, argument), l.edge.Field, argument, name, wrong, typ)
	return nil
}

// defaultKey is the identifier of the row that an element is a copy of, or holds the one copy of.
func (l *elementReader) defaultKey() {
	o := l.edge.Field.Object
	if r := l.edge.Reference; r != nil {
		for _, f := range o.Fields {
			if r.Source != nil && r.Source.Identifier != nil && f.Name == r.Source.Identifier.Name {
				l.edge.SK = []*schema.Field{f}
			}
		}
		return
	}
	if refs := l.edge.Part.References; len(refs) == 1 {
		l.edge.SK = []*schema.Field{refs[0].ID}
		if refs[0].ID.Nullable {
			l.edge.SK = nil
			l.Report(rule.ElementField, sdl.Position(l.edge.Dir.Position), l.edge.Field, "sk", refs[0].ID.Name,
				"may be null", o.Name)
		}
		return
	}
	count := "no field"
	if n := len(l.edge.Part.References); n > 1 {
		count = strconv.Itoa(n) + " fields"
	}
	l.Report(rule.ElementKey, sdl.Position(l.edge.Dir.Position), l.edge.Field, o.Name, count)
}
