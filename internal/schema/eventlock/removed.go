package eventlock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// removedField is a field that a type had, and what its values are in events that a log may have.
type removedField struct {
	name   string
	typ    string   // as the schema had it, without whether the field itself could be null
	values []string // of an enum
	form   string   // stands for the objects in it; "" where it held none
	added  bool     // later than the type
}

// unknownForm is the form of objects that had other fields before, whose events are not described by what they were at
// last.
const unknownForm = "unknown"

// remember is what is to be known, under a name, of a field of the lock that is gone.
func (l *Lock) remember(f *schema.EventField, name string) removedField {
	r := removedField{name: name, typ: strings.TrimSuffix(typeText(f), "!"), added: f.Added != ""}
	switch {
	case f.Enum != "":
		r.values = enumValues(l.Model, f.Enum)
	case f.Object != nil:
		r.form = formOf(l.Model, f.Object)
		for _, part := range append(f.Object.Inside(), f.Object) {
			if len(l.removed[part.Name]) > 0 {
				r.form = unknownForm
			}
		}
	}
	return r
}

// removedField finds a field that a type of the lock had.
func (l *Lock) removedField(t *schema.EventType, name string) (r removedField, found bool) {
	all := l.removed[t.Name]
	i := slices.IndexFunc(all, func(r removedField) bool { return r.name == name })
	if i < 0 {
		return r, false
	}
	return all[i], true
}

// text is what the file says of the field.
func (r removedField) text() string {
	text := fmt.Sprintf("@removed(field: %q, type: %q", r.name, r.typ)
	if r.values != nil {
		text += ", values: " + schema.QuotedList(r.values)
	}
	if r.form != "" && !r.isAnyObject() {
		text += fmt.Sprintf(", form: %q", r.form)
	}
	if r.added {
		text += ", added: true"
	}
	return text + ")"
}

// readRemoved reads what the file says of a field.
func readRemoved(d *ast.Directive) removedField {
	r := removedField{values: sdl.List(d, "values"), added: sdl.Flag(d, "added")}
	r.name, _ = sdl.Text(d, "field")
	r.typ, _ = sdl.Text(d, "type")
	r.form, _ = sdl.Text(d, "form")
	if r.isAnyObject() {
		r.form = unknownForm
	}
	return r
}

// isAnyObject reports whether no more is remembered than that it held objects, as former versions of the file have it.
func (r removedField) isAnyObject() bool {
	return r.element() == "Object" && r.values == nil && (r.form == "" || r.form == unknownForm)
}

// element is the type of its values, or of the elements of its lists.
func (r removedField) element() string { return strings.Trim(r.typ, "[]!") }

// objects says what the objects in it are.
func (r removedField) objects() string {
	if r.form == unknownForm {
		return "are of a form that is not remembered"
	}
	return "are those of " + r.typ + " as it was then"
}

// check wants each value of the removed field to be one of a field that takes its name.
func (r removedField) check(c *checker, t *schema.EventType, f *schema.EventField) {
	scalar := r.element()
	if r.values != nil {
		scalar = "String"
	}
	list, nullable := strings.HasPrefix(r.typ, "["), strings.HasSuffix(r.typ, "]") && !strings.HasSuffix(r.typ, "!]")
	likeLists := list == f.List && (!nullable || f.ElemNullable)
	switch {
	case r.form != "":
		if !likeLists || f.Object == nil || r.form != formOf(c.now, f.Object) {
			name, next := c.raised()
			c.add(rule.LockObject.Broken(f.Pos, t.Name, f.Name, r.name, r.objects(), typeText(f), name, next))
		}
	case likeLists && r.values != nil && f.Enum != "":
		c.enum(t, r.values, f)
	case !likeLists, f.Object != nil, f.Enum != "", !fits(scalar, f.Scalar):
		c.otherType(t, f, r.typ)
	}
}
