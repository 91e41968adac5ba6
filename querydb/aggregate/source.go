package aggregate

import (
	"slices"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// source says where a field of the object of a part is.
type source struct {
	place int // in the item of the part: the ordinal in its table; -1 for a field that the item does not hold
	// The item of another program may hold an identifier in the copy beside it alone.
	copy, identifier int    // ordinals of the copy, and of the identifier in it; -1 for a field that is no identifier
	child            *child // the field is its object, or the list of its objects
	ids              *child // the field is the identifier that its object has too, or the list of them
}

// findSources works out where each field of a part is. The part has its children.
func (p *part) findSources() {
	p.sources = make([]source, len(p.Object))
	for f := range p.sources {
		s := &p.sources[f]
		*s = source{place: -1, copy: -1, identifier: -1}
		if at := slices.Index(p.Own, f); at >= 0 {
			s.place = p.places[at]
		}
		if i := slices.IndexFunc(p.Copies, func(c Copy) bool { return c.ID == f }); i >= 0 {
			s.copy, s.identifier = p.Copies[i].Copy, p.Copies[i].Identifier
		}
		if i := slices.IndexFunc(p.children, func(c child) bool { return c.Field == f }); i >= 0 {
			s.child = &p.children[i]
		}
		if i := slices.IndexFunc(p.children, func(c child) bool { return c.ID == f }); i >= 0 {
			s.ids = &p.children[i]
		}
	}
}

// own is the text of a field that the item itself holds; an identifier is also in the copy beside it, or in the item
// of the copy.
func (p *part) own(item *driver.Row, f int) (text []byte, is bool) {
	s := &p.sources[f]
	if s.place < 0 {
		return nil, false
	}
	if text = item.Record.JSON(s.place); text != nil {
		return text, true
	}
	if s.copy >= 0 {
		held, _ := p.own(item, s.copy)
		return fieldOf(held, s.identifier), true
	}
	return nil, s.ids == nil
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
