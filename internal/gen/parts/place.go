package parts

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// Way says in Go how one goes from a row to the copies of a place. There is one copy, unless the way leads through a
// list, which is the last of its steps or holds the copies itself.
type Way struct {
	place  schema.Place
	list   string   // the expression of the list whose elements are, or hold, the copies; "" for none
	absent []string // conditions under which there is no copy, in the order of the way
	holder string   // the expression of the struct that holds identifier and copy, with %s for the index
}

// WayTo finds the way to a place from the row that is called row.
func WayTo(p schema.Place, row string) Way {
	w := Way{place: p, holder: row}
	for _, f := range p.Way {
		expr := w.holder + "." + f.GoName()
		switch {
		case f.List:
			w.list, expr = expr, expr+"[%s]"
		case f.HoldsNull():
			w.absent = append(w.absent, expr+" == nil")
		}
		w.holder = expr
	}
	if w.Listed() {
		w.list = w.IDs()
	}
	return w
}

// Counts reports whether the number of copies differs from row to row.
func (w Way) Counts() bool { return w.list != "" || len(w.absent) > 0 }

// Count are the statements that return the number of copies.
func (w Way) Count() string {
	var b strings.Builder
	if len(w.absent) > 0 {
		fmt.Fprintf(&b, "if %s {\nreturn 0\n}\n", strings.Join(w.absent, " || "))
	}
	if w.list == "" {
		b.WriteString("return 1")
	} else {
		fmt.Fprintf(&b, "return len(%s)", w.list)
	}
	return b.String()
}

// Indexed reports whether there is an index among the copies.
func (w Way) Indexed() bool { return w.list != "" }

// ID is the expression of the identifier of copy i.
func (w Way) ID(i string) string {
	if w.Listed() {
		return w.IDs() + "[" + i + "]"
	}
	return w.at(i) + "." + w.place.Reference.ID.GoName()
}

// Copy is the expression of copy i.
func (w Way) Copy(i string) string {
	expr := w.at(i) + "." + w.place.Reference.Copy.GoName()
	if w.Listed() {
		return expr + "[" + i + "]"
	}
	return expr
}

// Listed reports whether the copies are themselves the elements of a list.
func (w Way) Listed() bool { return w.place.Reference.Copy.List }

// Copies is the expression of a list of copies.
func (w Way) Copies() string { return w.holder + "." + w.place.Reference.Copy.GoName() }

// IDs is the expression of the list of identifiers of a list of copies.
func (w Way) IDs() string { return w.holder + "." + w.place.Reference.ID.GoName() }

func (w Way) at(i string) string { return strings.ReplaceAll(w.holder, "%s", i) }
