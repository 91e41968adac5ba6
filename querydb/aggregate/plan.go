package aggregate

import (
	"slices"

	"github.com/foldql/foldql/querydb/driver"
)

// Plan is a Shape, worked out for one generation of its table. It is safe for concurrent use.
type Plan struct {
	shape  *Shape
	Tables []*driver.Table // of the items of each kind, the root's first
	digest int             // ordinal of the digest in the items of the root
	root   *part
	parts  []*part // the root first, and each before those in it
}

// part is a Node with the table of its items.
type part struct {
	*Node
	table    *driver.Table
	number   int      // in Plan.parts
	places   []int    // of each of Node.Fields: its ordinal in the table
	sources  []source // of each of Node.Object
	orderBy  int      // as in Child; -1 also for what is no list
	says     []int    // those of Own that are in no copy
	children []child
}

// child is a Child with its part.
type child struct {
	*Child
	part *part
}

// NewPlan works a Shape out for a generation of a table, as it is described for the items of the root.
func NewPlan(s *Shape, root *driver.Table) *Plan {
	p := &Plan{shape: s}
	p.root = p.add(s.Root, root)
	p.digest = slices.IndexFunc(root.Fields, func(f driver.Field) bool { return f.Name == DigestField })
	return p
}

// add adds a node, and what is in it.
func (p *Plan) add(n *Node, root *driver.Table) *part {
	added := &part{Node: n, table: root, number: len(p.parts), orderBy: -1}
	p.parts = append(p.parts, added)
	if len(p.Tables) == 0 {
		p.Tables = append(p.Tables, root)
	} else {
		added.table = p.makeTable(n.Kind, root)
	}
	for _, f := range n.Fields {
		added.places = append(added.places, place(added.table, f))
	}
	for _, f := range n.Own {
		if !slices.ContainsFunc(n.Copies, func(c Copy) bool { return c.Copy == f }) {
			added.says = append(added.says, f)
		}
	}
	for i := range n.Children {
		c := child{&n.Children[i], p.add(n.Children[i].Node, root)}
		if c.isCopy() {
			c.part.says = []int{c.Identifier}
		}
		if c.Many {
			c.part.orderBy = c.OrderBy
		}
		added.children = append(added.children, c)
	}
	added.findSources()
	return added
}

// isCopy reports whether the child's items are copies of other rows.
func (c *Child) isCopy() bool { return c.ID >= 0 }

// makeTable makes the table of the items of a kind, which several nodes may have, unless it is there.
func (p *Plan) makeTable(kind string, root *driver.Table) *driver.Table {
	if t := p.TableOf(kind); t != nil {
		return t
	}
	t := &driver.Table{Name: root.Name, Generation: root.Generation, Sorted: true, Kind: kind, Keys: root.Keys,
		NoExpiry: true, Indexes: make([]driver.Index, len(root.Indexes))}
	for i, x := range root.Indexes {
		t.Indexes[i] = driver.Index{Name: x.Name, AlwaysSorted: x.AlwaysSorted, Keys: x.Keys}
	}
	p.Tables = append(p.Tables, t)
	return t
}

// place is the ordinal of a field in a table, which gets it where it has none of the name.
func place(t *driver.Table, f driver.Field) int {
	i := slices.IndexFunc(t.Fields, func(has driver.Field) bool { return has.Name == f.Name })
	if i < 0 {
		i = len(t.Fields)
		t.Fields = append(t.Fields, f)
	}
	return i
}

// Plan is a plan of the shape for whichever generation comes first: what objects are composed of is the same in all.
func (s *Shape) Plan(root func() *driver.Table) *Plan {
	if s.plan.Load() == nil {
		s.plan.CompareAndSwap(nil, NewPlan(s, root()))
	}
	return s.plan.Load()
}

// RootFields are the fields of the root's items.
func (s *Shape) RootFields() []driver.Field {
	return append(slices.Clip(s.Root.Fields), driver.Field{Name: DigestField, Scalar: "String", Nullable: true})
}

// InRoot turns ordinals of the whole object into those of the root's items, which hold these fields.
func (s *Shape) InRoot(fields []int) []int {
	if fields == nil {
		return nil
	}
	in := make([]int, len(fields))
	for i, f := range fields {
		in[i] = slices.Index(s.Root.Own, f)
	}
	return in
}
