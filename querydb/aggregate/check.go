package aggregate

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/querydb/driver"
)

// Check refuses a shape that has been read from a store and is none of an object with so many fields, in a table with
// so many indexes.
func (s *Shape) Check(fields, indexes int) error {
	if s.Root == nil || len(s.Root.Object) != fields {
		return fmt.Errorf("%w: an aggregate has no root of %d fields", driver.ErrDamaged, fields)
	}
	if l := s.Local; l != nil {
		if err := inRange("a local index", indexes, l.Index); err != nil {
			return err
		}
		if len(l.SK.Segments) != len(l.Fields) {
			return fmt.Errorf("%w: the sort key of a local index has %d attributes and %d fields", driver.ErrDamaged,
				len(l.SK.Segments), len(l.Fields))
		}
		if err := inRange("a local index", fields, l.Fields...); err != nil {
			return err
		}
	}
	return s.Root.check(fields)
}

func inRange(what string, of int, ordinals ...int) error {
	for _, i := range ordinals {
		if i < 0 || i >= of {
			return fmt.Errorf("%w: %s of an aggregate names the number %d of %d", driver.ErrDamaged, what, i, of)
		}
	}
	return nil
}

// check refuses a node, and what is in it; the root's object has so many fields.
func (n *Node) check(rootFields int) error {
	own, held := len(n.Object), len(n.Fields)
	err := inRange("the item "+n.Kind, own, slices.Concat(n.Own, n.SKFields)...)
	if err != nil {
		return err
	}
	if len(n.Own)+len(n.Constants)+len(n.Context) != held || len(n.SKFields) != len(n.SK.Segments) {
		return fmt.Errorf("%w: the item %s of an aggregate has %d fields in place of %d", driver.ErrDamaged, n.Kind, held,
			len(n.Own)+len(n.Constants)+len(n.Context))
	}
	for _, c := range n.Constants {
		if err := inRange("a constant", held, c.Field); err != nil {
			return err
		}
	}
	for _, c := range n.Context {
		if err := inRange("a context field", held, c.Field); err != nil {
			return err
		}
		if err := inRange("a context field", rootFields, c.Of); err != nil {
			return err
		}
	}
	for _, c := range n.Copies {
		if err := inRange("a copy", own, c.ID, c.Copy); err != nil {
			return err
		}
		if err := inRange("a copy", len(n.Object[c.Copy].Object), c.Identifier); err != nil {
			return err
		}
		if slices.ContainsFunc(n.Copies, func(other Copy) bool { return other.ID == c.Copy }) {
			return fmt.Errorf("%w: a copy in an aggregate is the identifier of a copy", driver.ErrDamaged)
		}
	}
	for i := range n.Children {
		if err := n.Children[i].check(own, rootFields); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a child of an object with so many fields.
func (c *Child) check(parent, rootFields int) error {
	if c.Node == nil {
		return fmt.Errorf("%w: a part of an aggregate is missing", driver.ErrDamaged)
	}
	if err := inRange("a part", parent, c.Field); err != nil {
		return err
	}
	if c.ID != -1 {
		if err := inRange("a part", parent, c.ID); err != nil {
			return err
		}
		if err := inRange("a part", len(c.Object), c.Identifier); err != nil {
			return err
		}
	}
	if c.OrderBy != -1 {
		if err := inRange("an order", len(c.Object), c.OrderBy); err != nil {
			return err
		}
	}
	return c.Node.check(rootFields)
}
