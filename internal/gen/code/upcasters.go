package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// formerTypes writes what events were in former versions, and names for what they are that stay when they are it no
// more.
func (f *eventTypesFile) formerTypes(m *schema.Model) {
	for _, t := range m.Events {
		for i, former := range t.Former {
			f.eventType(former, fmt.Sprintf("%s is what the data of the event %s were in version %d.",
				schema.GoName(former.Name), t.Name, i+1))
			for _, part := range partsOf(former) {
				f.eventType(part, fmt.Sprintf("%s is an object inside of %s.", schema.GoName(part.Name),
					schema.GoName(former.Name)))
			}
		}
	}
	for _, e := range m.FormerEnums {
		f.enumType(e)
	}
	for _, t := range m.Events {
		if t.Version > 1 {
			f.presentNames(m, t)
		}
	}
	f.upcasters(m)
}

// partsOf are the objects inside of a type, but for itself.
func partsOf(t *schema.EventType) []*schema.EventType {
	return slices.DeleteFunc(t.Inside(), func(part *schema.EventType) bool { return part == t })
}

// presentNames writes the names of the present version of an event, and of what is inside of it.
func (f *eventTypesFile) presentNames(m *schema.Model, t *schema.EventType) {
	prefix := schema.GoName(t.VersionName(t.Version))
	f.line("// %s is the present version of %s: a name that stays right when there is a next one.", prefix, t.Name)
	f.line("type %s = %s\n", prefix, schema.GoName(t.Name))
	var enums []string
	for _, part := range append(partsOf(t), t) {
		if part != t {
			name := schema.GoName(t.VersionName(t.Version) + part.Name)
			f.line("// %s is an object inside of %s.", name, prefix)
			f.line("type %s = %s\n", name, schema.GoName(part.Name))
		}
		for _, field := range part.Fields {
			if field.Enum != "" && !slices.Contains(enums, field.Enum) {
				enums = append(enums, field.Enum)
			}
		}
	}
	for _, e := range m.EventEnums {
		if slices.Contains(enums, e.Name) {
			f.presentEnum(t.VersionName(t.Version)+e.Name, e)
		}
	}
}

func (f *eventTypesFile) presentEnum(name string, e *schema.Enum) {
	f.line("// %s is the enum %s.", schema.GoName(name), e.Name)
	f.line("type %s = %s\n", schema.GoName(name), schema.GoName(e.Name))
	f.line("// The values of %s.", schema.GoName(name))
	f.line("const (")
	for _, v := range e.Values {
		f.line("%s = %s", schema.GoConst(name, v), schema.GoConst(e.Name, v))
	}
	f.line(")\n")
}

// upcasters writes the interface of what the project writes by hand.
func (f *eventTypesFile) upcasters(m *schema.Model) {
	if !m.HasUpcasters() {
		return
	}
	f.line("// Upcasters make data of each version of an event of those of the version before. Methods are pure: " +
		"they know the")
	f.line("// data and nothing else. An event for which one returns an error becomes a dead letter.")
	f.line("type Upcasters interface {")
	for _, t := range m.Events {
		for i, former := range t.Former {
			f.line("%s(former %s) (%s, error)", schema.GoName(former.Name), schema.GoName(former.Name),
				schema.GoName(t.VersionName(i+2)))
		}
	}
	f.line("}\n")
}

// upcast writes how an event of several versions is read.
func (f *eventTypesFile) upcast(t *schema.EventType) {
	if t.Version == 1 {
		return
	}
	f.use("fmt")
	name := schema.GoName(t.Name)
	for _, former := range t.Former {
		f.decoder(former, fmt.Sprintf("data that were of the event %s", t.Name))
		f.reader(former)
		for _, part := range partsOf(former) {
			f.reader(part)
		}
	}
	f.line("// Upcast%s reads the data of an event %s of any version, and makes present ones of them.", name, t.Name)
	f.line("func Upcast%s(e *eventlog.Event, u Upcasters) (v %s, err error) {", name, name)
	f.line("version, err := e.DataVersion()\nif err != nil {\nreturn v, err\n}")
	f.line("if version > %d {", t.Version)
	f.line("return v, &eventlog.UnknownVersionError{Type: %q, Version: version, Known: %d}\n}", t.Name, t.Version)
	f.line("return upcastTo%s(version, e.Data, u)\n}\n", schema.GoName(t.VersionName(t.Version)))
	for version := t.Version; version > 1; version-- {
		f.upcastTo(t, version)
	}
	f.line("// TagsOf%s returns the tags of an event %s of any version.", name, t.Name)
	if len(tagged(t)) == 0 {
		f.line("func TagsOf%s(*eventlog.Event, Upcasters) ([]string, error) { return nil, nil }\n", name)
		return
	}
	f.line("func TagsOf%s(e *eventlog.Event, u Upcasters) ([]string, error) {", name)
	f.line("v, err := Upcast%s(e, u)\nif err != nil {\nreturn nil, err\n}\nreturn tagsIn%s(v), nil\n}\n", name, name)
}

// upcastTo writes how data of a version, or of one before, are read as those of the version.
func (f *eventTypesFile) upcastTo(t *schema.EventType, version int) {
	this, former := schema.GoName(t.VersionName(version)), schema.GoName(t.Former[version-2].Name)
	decode := "Decode" + this
	if version == t.Version {
		decode = "Decode" + schema.GoName(t.Name)
	}
	f.line("func upcastTo%s(version int, b []byte, u Upcasters) (v %s, err error) {", this, this)
	f.line("if version == %d {\nreturn %s(b)\n}", version, decode)
	if version == 2 {
		f.line("former, err := Decode%s(b)", former)
	} else {
		f.line("former, err := upcastTo%s(version, b, u)", former)
	}
	f.line("if err != nil {\nreturn v, err\n}")
	f.line("if v, err = u.%s(former); err != nil {", former)
	f.line("return v, fmt.Errorf(%q, err)\n}", fmt.Sprintf("upcast %s from version %d: %%w", t.Name, version-1))
	f.line("return v, nil\n}\n")
}

// formerChecks are the functions that check the data of an event in its former versions, as a field of a literal.
func formerChecks(t *schema.EventType) string {
	if len(t.Former) == 0 {
		return ""
	}
	checks := make([]string, len(t.Former))
	for i, former := range t.Former {
		checks[i] = "check" + schema.GoName(former.Name)
	}
	return ", Former: []func([]byte) ([]string, error){" + strings.Join(checks, ", ") + "}"
}

// takesVersioned reports whether a projection takes events of several versions.
func takesVersioned(m *schema.Model, w *schema.Writer) bool {
	return slices.ContainsFunc(w.Events, func(e string) bool { return m.EventNamed(e).Version > 1 })
}

// versions writes which versions a projection knows of the events that have several.
func (f *opsFile) versions(m *schema.Model, w *schema.Writer) {
	f.line("Versions: map[string]int{")
	for _, e := range w.Events {
		if t := m.EventNamed(e); t.Version > 1 {
			for _, name := range t.Names() {
				f.line("%q: %d,", name, t.Version)
			}
		}
	}
	f.line("},")
}

// tagsOf writes how a projection finds the tags of an event.
func (f *opsFile) tagsOf(m *schema.Model, w *schema.Writer) {
	const plain = "return event.Types[e.Type].Tags(e.Data)"
	if !takesVersioned(m, w) {
		f.line("TagsOf: func(e *eventlog.Event) ([]string, error) { %s },", plain)
		return
	}
	f.line("TagsOf: func(e *eventlog.Event) ([]string, error) {\nswitch e.Type {")
	for _, e := range w.Events {
		if t := m.EventNamed(e); t.Version > 1 {
			f.line("case %s:\nreturn event.TagsOf%s(e, u)", caseNames(t), schema.GoName(t.Name))
		}
	}
	f.line("}\n%s\n},", plain)
}
