package aggregate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// ErrTorn is of items that no commit has left so: the read fell between two items of a commit, or others have changed
// items.
var ErrTorn = errors.New("the items are not those with which the root was written")

// IncompleteError is of items that make no whole object.
type IncompleteError struct {
	Reason string // what is missing, or should not be there
}

// Error implements error.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the stored items make no whole object: %s", e.Reason)
}

// Is makes it an error of a row that cannot be read.
func (e *IncompleteError) Is(target error) bool { return target == driver.ErrDamaged }

// Assemble makes the row that holds the whole object of the items of a partition, in the order of their keys. The row
// has what the root's item has beside the record, and the items themselves, the root first. Where there is no object,
// its Record is nil. The error is ErrTorn or an IncompleteError.
func (p *Plan) Assemble(items []driver.Row) (driver.Row, error) {
	a := assembler{plan: p, of: make([][]driver.Row, len(p.parts))}
	root, err := a.sort(items)
	if err != nil || root.Record == nil {
		return root, err
	}
	torn := checkDigest(p.root, &root, items)
	a.build.Begin(len(p.root.Object))
	a.object(p.root, &root)
	switch wrong := a.wrong(len(items)); {
	case torn != nil && wrong != "":
		return driver.Row{}, fmt.Errorf("%w: %s", torn, wrong)
	case torn != nil:
		return driver.Row{}, torn
	case wrong != "":
		return driver.Row{}, &IncompleteError{wrong}
	}
	whole := root
	if whole.Record, _, err = a.build.Finish(); err != nil {
		return driver.Row{}, &IncompleteError{err.Error()}
	}
	whole.Items = make([]driver.Row, 0, len(items))
	whole.Items = append(whole.Items, root)
	for i := range items {
		if items[i].Key != root.Key {
			whole.Items = append(whole.Items, items[i])
		}
	}
	return whole, nil
}

// assembler makes the whole object of its items.
type assembler struct {
	plan    *Plan
	of      [][]driver.Row // the items of each of plan.parts
	build   record.Builder
	missing []string
	used    int // items
}

// wrong says what is missing, or should not be there, of so many items; "" for nothing.
func (a *assembler) wrong(items int) string {
	switch {
	case len(a.missing) > 0:
		return "it has no " + strings.Join(a.missing, ", no ")
	case a.used < items:
		return fmt.Sprintf("%d of its items are of parts that it does not have", items-a.used)
	}
	return ""
}

// sort finds the part of each item, and the root.
func (a *assembler) sort(items []driver.Row) (root driver.Row, err error) {
	found := false
	for i := range items {
		switch part := a.plan.partOf(&items[i]); {
		case part == nil:
			return root, &IncompleteError{fmt.Sprintf("the item %q of type %s is no part of it", items[i].Key.SK, items[i].Kind)}
		case part == a.plan.root:
			root, found = items[i], true
		default:
			a.of[part.number] = append(a.of[part.number], items[i])
		}
	}
	switch {
	case len(items) == 0, root.Record == nil && len(items) == 1 && found:
		return root, nil
	case root.Record == nil:
		return root, &IncompleteError{"it has no root, an item of type " + a.plan.root.Kind}
	}
	return root, nil
}

// partOf finds the part that an item is of, by its kind and its sort key; nil for none.
func (p *Plan) partOf(item *driver.Row) *part {
	for _, part := range p.parts {
		if part.Kind != item.Kind {
			continue
		}
		sk, head := item.Key.SK, part.SK.Head
		if len(part.SKFields) == 0 && sk == head || len(part.SKFields) > 0 && len(sk) > len(head) &&
			strings.HasPrefix(sk, head) && strings.HasPrefix(sk[len(head):], part.SK.Sep) {
			return part
		}
	}
	return nil
}

// object appends the fields of the object of a part, of which item is the one that holds its own.
func (a *assembler) object(p *part, item *driver.Row) {
	a.used++
	for f := range p.Object {
		if text, own := p.own(item, f); own {
			a.own(p, f, text)
		} else if i := slices.IndexFunc(p.children, func(c child) bool { return c.Field == f }); i >= 0 {
			a.child(&p.children[i])
		} else {
			a.ids(p, f)
		}
	}
}

// own appends a field that the item itself holds.
func (a *assembler) own(p *part, f int, text []byte) {
	if text == nil && !p.Object[f].Nullable {
		name := p.Object[f].Name
		if p.Name != "" {
			name += " of " + p.Name
		}
		a.missing = append(a.missing, name)
	}
	a.build.JSON(text)
}

// own is the text of a field that the item itself holds; an identifier is also in the copy beside it, or in the item
// of the copy.
func (p *part) own(item *driver.Row, f int) (text []byte, is bool) {
	at := slices.Index(p.Own, f)
	if at < 0 {
		return nil, false
	}
	if text = item.Record.JSON(p.places[at]); text != nil {
		return text, true
	}
	for _, c := range p.Copies {
		if c.ID == f {
			held, _ := p.own(item, c.Copy)
			return fieldOf(held, c.Identifier), true
		}
	}
	return nil, !slices.ContainsFunc(p.children, func(c child) bool { return c.ID == f })
}

// fieldOf is the text of a field of an object; nil where there is none.
func fieldOf(object []byte, field int) (text []byte) {
	at := 0
	record.List(object, func(elem []byte) bool {
		if at == field && string(elem) != "null" {
			text = elem
		}
		at++
		return at <= field
	})
	return text
}

// child appends an object, or a list of objects.
func (a *assembler) child(c *child) {
	items := a.of[c.part.number]
	if c.Many {
		c.order(items)
		a.build.BeginList()
		for i := range items {
			a.nested(c.part, &items[i])
		}
		a.build.EndList()
		return
	}
	switch {
	case len(items) > 0:
		a.nested(c.part, &items[0])
	case c.Optional:
		a.build.Null()
	default:
		a.missing = append(a.missing, fmt.Sprintf("%s, an item of type %s", c.Name, c.Kind))
		a.build.Null()
	}
}

func (a *assembler) nested(p *part, item *driver.Row) {
	a.build.BeginObject()
	a.object(p, item)
	a.build.EndObject()
}

// ids appends the identifiers that are in the items of a child.
func (a *assembler) ids(p *part, field int) {
	i := slices.IndexFunc(p.children, func(c child) bool { return c.ID == field })
	if i < 0 {
		a.build.Null()
		return
	}
	c := &p.children[i]
	items := a.of[c.part.number]
	if !c.Many {
		var text []byte
		if len(items) > 0 {
			text, _ = c.part.own(&items[0], c.Identifier)
		}
		a.build.JSON(text)
		return
	}
	c.order(items)
	a.build.BeginList()
	for i := range items {
		text, _ := c.part.own(&items[i], c.Identifier)
		a.build.JSON(text)
	}
	a.build.EndList()
}
