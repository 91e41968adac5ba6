// Package parts writes what the generated code knows of the parts of aggregates: how they are kept as items, and the
// way to each copy of another row.
package parts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// Writer writes a Go file.
type Writer interface {
	Line(format string, args ...any)
	Layout(name string, h schema.Half) // as a field of a struct
	FieldsOf(o *schema.Object) string  // the variable of the fields of an object
	Field(f *schema.Field) string      // the literal of a field
}

// Shape writes the field Aggregate of the description of a model. local is the ordinal of its local index in the
// shared table.
func Shape(w Writer, m *schema.ReadModel, local int) {
	a := m.Aggregate
	w.Line("Aggregate: &aggregate.Shape{\nRoot: &aggregate.Node{")
	s := shape{Writer: w, root: a.Root}
	s.node(a.Root, RootFields(m))
	w.Line("},")
	if a.Local != nil {
		w.Line("Local: &aggregate.Local{\nIndex: %d,", local)
		w.Layout("SK", a.Local.SK)
		if len(a.Local.SK.Fields) > 0 {
			w.Line("Fields: %s,", ordinals(a.Local.SK.Fields))
		}
		w.Line("},")
	}
	w.Line("},")
}

// RootFields is the variable of the fields of an aggregate.
func RootFields(m *schema.ReadModel) string { return "fieldsOf" + schema.GoName(m.Name) }

// shape writes the nodes of an aggregate.
type shape struct {
	Writer
	root *schema.Node
}

func (s *shape) node(n *schema.Node, object string) {
	if n.Name != "" {
		s.Line("Name: %q,", n.Name)
	}
	s.Line("Kind: %q,", n.Kind)
	s.Layout("SK", n.SK)
	if len(n.SK.Fields) > 0 {
		s.Line("SKFields: %s,", ordinals(n.SK.Fields))
	}
	s.Line("Object: %s,", object)
	s.fields(n)
	s.Line("Own: %s,", ordinals(n.Own))
	s.repeated(n)
	s.copies(n)
	if len(n.Children) > 0 {
		s.Line("Children: []aggregate.Child{")
		for _, c := range n.Children {
			s.child(c)
		}
		s.Line("},")
	}
}

// fields writes the attributes of an item.
func (s *shape) fields(n *schema.Node) {
	s.Line("Fields: []driver.Field{")
	for _, f := range n.Own {
		s.Line("%s,", s.Field(f))
	}
	for _, by := range n.Discriminators {
		s.Line("{Name: %q, Scalar: %q},", by.Name, by.Scalar)
	}
	for _, f := range n.Context {
		s.Line("%s,", s.Field(f))
	}
	s.Line("},")
}

// repeated writes the attributes that are no fields of the object.
func (s *shape) repeated(n *schema.Node) {
	at := len(n.Own)
	if len(n.Discriminators) > 0 {
		s.Line("Constants: []aggregate.Constant{")
		for _, by := range n.Discriminators {
			s.Line("{Field: %d, JSON: %q},", at, by.JSON())
			at++
		}
		s.Line("},")
	}
	if len(n.Context) > 0 {
		s.Line("Context: []aggregate.Context{")
		for _, f := range n.Context {
			s.Line("{Field: %d, Of: %d},", at, f.Ordinal)
			at++
		}
		s.Line("},")
	}
}

func (s *shape) copies(n *schema.Node) {
	if len(n.References) == 0 {
		return
	}
	s.Line("Copies: []aggregate.Copy{")
	for _, r := range n.References {
		s.Line("{ID: %d, Copy: %d, Identifier: %d},", r.ID.Ordinal, r.Copy.Ordinal, identifier(r))
	}
	s.Line("},")
}

// identifier is the ordinal, in a copy, of the identifier of the row that it is of.
func identifier(r *schema.Reference) int {
	return slices.IndexFunc(r.Copy.Object.Fields, func(f *schema.Field) bool { return f.Name == r.Source.Identifier.Name })
}

func (s *shape) child(n *schema.Node) {
	e := n.Edge
	s.Line("{\nNode: &aggregate.Node{")
	s.node(n, s.FieldsOf(e.Field.Object))
	s.Line("},\nField: %d,", e.Field.Ordinal)
	if e.Many {
		s.Line("Many: true,")
	}
	if e.Field.Nullable && !e.Many {
		s.Line("Optional: true,")
	}
	id, in := -1, -1
	if e.Reference != nil {
		id, in = e.Reference.ID.Ordinal, identifier(e.Reference)
	}
	orderBy := -1
	if e.OrderBy != nil {
		orderBy = e.OrderBy.Ordinal
	}
	s.Line("ID: %d,\nIdentifier: %d,\nOrderBy: %d,\n},", id, in, orderBy)
}

func ordinals(fields []*schema.Field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = strconv.Itoa(f.Ordinal)
	}
	return fmt.Sprintf("[]int{%s}", strings.Join(texts, ", "))
}
