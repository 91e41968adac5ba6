package plan

import "github.com/foldql/foldql/graph/catalog"

// Object is what is selected of an object that a row holds, or of each of a list of them.
type Object struct {
	Type    *catalog.Object
	Members []Member // their Ordinal is that of the object's field
	Stored  int      // how many fields the object has
	List    bool
	Guarded bool // a rule holds for one of the members, or for one of theirs
}

// object makes the selection of a field that holds objects in rows of a node; nil is for one that holds scalars.
func (c *Compiler) object(n *Node, t *catalog.Object, s selected) *Object {
	if t == nil {
		return nil
	}
	o := &Object{Type: t, Stored: len(t.Fields), List: s.Definition.Type.Elem != nil}
	for i, inner := range c.Collect(t.Name, s.Of) {
		m := c.newMember(t.Name, inner, i == 0)
		f := t.Fields[inner.Name]
		switch {
		case m.Text != nil:
		case f == nil || inner.Definition == nil:
			c.unsupported = true
		default:
			m.NonNull, m.Ordinal, m.Object = inner.Definition.Type.NonNull, f.Ordinal, c.object(n, f.Object, inner)
			if f.Rule != nil {
				m.Part = inner.Name
				if f.Rule.Owner {
					n.reads(n.Type.Owner)
				}
			}
			o.Guarded = o.Guarded || f.Rule != nil || m.Object != nil && m.Object.Guarded
		}
		m.Plain = m.isPlain()
		o.Members = append(o.Members, m)
	}
	return o
}
