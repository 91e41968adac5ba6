package plan

import "github.com/foldql/foldql/graph/catalog"

// Object is what is selected of an object that a row holds, or of each of a list of them.
type Object struct {
	Members []Member // their Ordinal is that of the object's field
	Stored  int      // how many fields the object has
	List    bool
}

// object makes the selection of a field that holds objects; nil is for one that holds scalars.
func (c *Compiler) object(t *catalog.Object, s selected) *Object {
	if t == nil {
		return nil
	}
	o := &Object{Stored: len(t.Fields), List: s.Definition.Type.Elem != nil}
	for i, inner := range c.Collect(t.Name, s.Of) {
		m := c.newMember(t.Name, inner, i == 0)
		f := t.Fields[inner.Name]
		switch {
		case m.Text != nil:
		case f == nil || inner.Definition == nil:
			c.unsupported = true
		default:
			m.NonNull, m.Ordinal, m.Object = inner.Definition.Type.NonNull, f.Ordinal, c.object(f.Object, inner)
		}
		o.Members = append(o.Members, m)
	}
	return o
}
