package trial

import (
	"math/rand/v2"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
)

// parts draws the objects of aggregates.
type parts struct {
	rng    *rand.Rand
	schema *ast.Schema
}

// whole is a random row of an aggregate, with all parts that it needs, and identifiers that are those of its copies.
func (d parts) whole(m *querydb.Model) row {
	r := row{}
	for i, v := range d.part(m.Aggregate.Root) {
		if v != nil {
			r[m.Fields[i].Name] = v
		}
	}
	return r
}

// part is a random object of a node.
func (d parts) part(n *aggregate.Node) object {
	o := make(object, len(n.Object))
	for i, f := range n.Object {
		o[i] = value(d.rng, d.schema, f)
	}
	for _, c := range n.Copies {
		d.refer(o, c, n)
	}
	for i := range n.Children {
		d.child(o, &n.Children[i])
	}
	return o
}

// refer draws a reference within an item: the identifier is that of the copy, or there is neither.
func (d parts) refer(o object, c aggregate.Copy, n *aggregate.Node) {
	o[c.ID], o[c.Copy] = nil, nil
	if n.Object[c.ID].Nullable && d.rng.IntN(4) == 0 {
		return
	}
	copied := one(d.rng, d.schema, n.Object[c.Copy]).(object)
	o[c.ID], o[c.Copy] = copied[c.Identifier], copied
}

// child puts the objects of a part into their parent, with their identifiers beside them.
func (d parts) child(parent object, c *aggregate.Child) {
	parent[c.Field] = nil
	if c.ID >= 0 && (c.Many || c.Optional) {
		parent[c.ID] = nil
	}
	if c.Many {
		d.children(parent, c)
		return
	}
	if c.Optional && d.rng.IntN(4) == 0 {
		return
	}
	o := d.part(c.Node)
	if parent[c.Field] = o; c.ID >= 0 {
		parent[c.ID] = o[c.Identifier]
	}
}

// children are those of a list, no two of one sort key.
func (d parts) children(parent object, c *aggregate.Child) {
	list, ids := []any{}, []any{}
	for range d.rng.IntN(4) {
		o := d.part(c.Node)
		if slices.ContainsFunc(list, func(other any) bool { return sameKey(c.Node, o, other.(object)) }) {
			continue
		}
		if list = append(list, o); c.ID >= 0 {
			ids = append(ids, o[c.Identifier])
		}
	}
	if parent[c.Field] = list; c.ID >= 0 {
		parent[c.ID] = ids
	}
}

func sameKey(n *aggregate.Node, a, b object) bool {
	for _, f := range n.SKFields {
		if valueOf(n.Object[f], a[f]) != valueOf(n.Object[f], b[f]) {
			return false
		}
	}
	return true
}
