// Package eventlock remembers, in a file beside the schema of the events, what the events of a log may hold. It finds
// changes of the schema that such events could not satisfy.
//
// The file is GraphQL: the events as they are, without what is of no concern to data, and with what they were. So a
// change of the events is seen in it as it is seen in the schema.
package eventlock

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/parse/event"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// File is the name of the file.
const File = "events.lock"

// Lock is what a log may have.
type Lock struct {
	*schema.Model // Events, Retired, Values and EventEnums alone
	// removed are the fields that a type had.
	removed map[string][]removedField
	// former are what events were in former versions.
	former map[string][]former
}

// Read reads the file; an empty text is that of no events. The Lock is nil where the text has errors.
func Read(text string) (*Lock, schema.Diagnostics) {
	l := &Lock{Model: &schema.Model{}, removed: map[string][]removedField{},
		former: map[string][]former{}}
	if text == "" {
		return l, nil
	}
	api, _ := sdl.Parse(nil, sdl.ReadModels)
	doc, sound := sdl.Parse([]*ast.Source{{Name: File, Input: text}}, sdl.EventLock)
	p := &draft.Project{API: api, Events: doc, Model: l.Model}
	p.Add(doc.Found...)
	if sound {
		p.Add(sdl.Check(doc)...)
	}
	if len(p.Found.Errors()) == 0 {
		event.Read(p)
	}
	if len(p.Found.Errors()) > 0 {
		return nil, p.Found
	}
	for _, def := range doc.Types {
		l.readMarks(def)
	}
	return l, nil
}

// readMarks reads what the lock says of a type beside what a schema does.
func (l *Lock) readMarks(def *ast.Definition) {
	for _, d := range def.Directives.ForNames("removed") {
		l.removed[def.Name] = append(l.removed[def.Name], readRemoved(d))
	}
	all := slices.Concat(l.Events, l.Values)
	// What had the name before is another type.
	at := slices.IndexFunc(all, func(t *schema.EventType) bool { return t.Name == def.Name })
	if at < 0 { // an enum, or a retired event
		return
	}
	t := all[at]
	for _, f := range def.Fields {
		of := fieldNamed(t, f.Name)
		if d := f.Directives.ForName("added"); d != nil {
			of.Added, _ = sdl.Text(d, "as")
		}
		for _, d := range f.Directives.ForNames("joined") {
			name, _ := sdl.Text(d, "field")
			of.Joined = append(of.Joined, name)
		}
	}
	l.readFormer(def, t)
}

// typeNamed finds a type that has the name, or had it, nil for none.
func typeNamed(types []*schema.EventType, name string) *schema.EventType {
	i := slices.IndexFunc(types, func(t *schema.EventType) bool { return slices.Contains(t.Names(), name) })
	if i < 0 {
		return nil
	}
	return types[i]
}

// fieldNamed finds a field that has the name, or had it, nil for none.
func fieldNamed(t *schema.EventType, name string) *schema.EventField {
	for _, f := range t.Fields {
		if f.Name == name || slices.Contains(f.Was, name) {
			return f
		}
	}
	return nil
}

// holderOf is a field of another type that holds a type, "" for none.
func holderOf(m *schema.Model, held *schema.EventType) string {
	for _, t := range slices.Concat(m.Events, m.Values) {
		for _, f := range t.Fields {
			if f.Object == held && t != held {
				return t.Name + "." + f.Name
			}
		}
	}
	return ""
}

// mayLack reports whether an event need not have the field.
func mayLack(f *schema.EventField) bool { return f.Nullable || f.Default != "" }

// enumValues are the values of an enum of events.
func enumValues(m *schema.Model, name string) []string {
	if e := enumNamed(m.EventEnums, name); e != nil {
		return e.Values
	}
	return nil
}

// enumNamed finds an enum, nil for none.
func enumNamed(enums []*schema.Enum, name string) *schema.Enum {
	i := slices.IndexFunc(enums, func(e *schema.Enum) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return enums[i]
}

// typeText writes the type of a field as the schema has it.
func typeText(f *schema.EventField) string {
	text := f.Scalar
	switch {
	case f.Object != nil:
		text = f.Object.Name
	case f.Enum != "":
		text = f.Enum
	}
	if f.List {
		if !f.ElemNullable {
			text += "!"
		}
		text = "[" + text + "]"
	}
	if !f.Nullable {
		text += "!"
	}
	return text
}
