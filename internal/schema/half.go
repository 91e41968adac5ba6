package schema

import (
	"slices"
	"strconv"
	"strings"
)

// Style is how a half of a key is written.
type Style string

// The styles of keys: values joined by a separator, name_value behind a head, literals and values.
const (
	ReadModelStyle Style = "read model"
	EntityStyle    Style = "entity"
	TemplateStyle  Style = "template"
)

// Half is one half of a key. In the style of a read model it is the values of Fields, joined with Sep. In that of an
// entity it is Head, then a segment name_value for each of Segments, and in that of a template it is Segments, all joined
// with Sep.
type Half struct {
	Style    Style
	Template string    // of a template, as the annotation writes it: post#{createdAt}#{n:16}
	Head     string    // of an entity, in its casing: $myapp#v1#task
	Segments []Segment // of an entity and of a template
	Fields   []*Field  // the composites, in order
	Sep      string    // "" where nothing is joined
	Casing   string    // of the values: LOWERCASE UPPERCASE NONE; "" in the style of a read model, which is NONE
	Escape   bool      // separators inside of values are percent-escaped, in halves of more than one segment
}

// Segment is part of a half: a literal, or the value of a field.
type Segment struct {
	Literal string // in its casing; "" for the value of a field
	Name    string // that stands before the value, in its casing; "" in a template
	Field   *Field
	Pad     int // digits that the integer part of a number is padded to in a template; 0 for none
}

const (
	entitySep    = "#"
	lowercase    = "LOWERCASE"
	uppercase    = "UPPERCASE"
	noCasing     = "NONE"
	escapeValues = "PERCENT"
)

// cased is a text in a casing.
func cased(text, casing string) string {
	switch casing {
	case lowercase:
		return strings.ToLower(text)
	case uppercase:
		return strings.ToUpper(text)
	}
	return text
}

// Exists reports whether there is such a half at all; one that is composed of nothing exists in the style of an entity.
func (h Half) Exists() bool { return h.Head != "" || len(h.Segments) > 0 || len(h.Fields) > 0 }

// orders reports whether the keys of the half are in the order of the values of one of its fields.
func (h Half) orders(f *Field) bool {
	unpadded := func(s Segment) bool { return s.Field == f && s.Pad == 0 && isNumber(f.Scalar) }
	return h.Style != TemplateStyle || !slices.ContainsFunc(h.Segments, unpadded)
}

// Prefix is what all keys of the half begin with, up to the first value; whole is true where that is all of the key.
func (h Half) Prefix() (text string, whole bool) {
	var parts []string
	if h.Head != "" {
		parts = append(parts, h.Head)
	}
	for _, s := range h.Segments {
		if s.Field != nil {
			break
		}
		parts = append(parts, s.Literal)
	}
	text = strings.Join(parts, entitySep)
	if len(h.Fields) == 0 {
		return text, h.Exists()
	}
	if text != "" {
		text += entitySep
	}
	return text, false
}

// head is what halves of entities of the table begin with: its schema, its version, and names. The schema is cased as
// the table says, the names as the index does.
func (t *Table) head(casing string, names ...string) string {
	head := "$" + cased(t.Schema, t.Casing) + entitySep + "v" + strconv.Itoa(t.Version)
	for _, name := range names {
		head += entitySep + cased(name, casing)
	}
	return head
}

// entityVersion follows the type of an entity below a collection; no casing touches it.
const entityVersion = "_1"

// compose makes a half in the style of an entity.
func (t *Table) compose(head string, fields []*Field, casing string) Half {
	h := Half{
		Style: EntityStyle, Head: head, Fields: fields, Sep: entitySep, Casing: casing, Escape: t.Escape == escapeValues,
	}
	for _, f := range fields {
		h.Segments = append(h.Segments, Segment{Name: cased(f.Name, casing), Field: f})
	}
	return h
}

// composeIndex makes the halves of an index of an entity type, by the collections that it is of.
func (t *Table) composeIndex(x *Index, entity string, pk, sk []*Field) {
	pkHead, skHead := t.head(x.Casing, entity), t.head(x.Casing, entity)
	if len(x.Collection) > 0 {
		pkHead, skHead = t.head(x.Casing, x.Collection[0]), skHead+entityVersion
	}
	if x.Clustered {
		skHead = t.head(x.Casing, append(slices.Clone(x.Collection), entity)...) + entityVersion
	}
	x.PK, x.SK = t.compose(pkHead, pk, x.Casing), t.compose(skHead, sk, x.Casing)
}

// composites are the fields of two halves without repeats.
func composites(halves ...Half) []*Field {
	var all []*Field
	for _, h := range halves {
		for _, f := range h.Fields {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}
