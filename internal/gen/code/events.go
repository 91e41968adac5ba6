package code

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// eventTypesFile writes the events and their decoders.
type eventTypesFile struct{ *File }

// Events writes the types of the events and of what is inside of them.
func Events(m *schema.Model) *File {
	f := &eventTypesFile{&File{pkg: "event", doc: "Package event holds the events that projectors consume, and " +
		"their decoders.\n"}}
	for _, t := range m.Events {
		f.eventType(t, fmt.Sprintf("%s is the data of the event %s.", schema.GoName(t.Name), t.Name))
	}
	for _, t := range m.Values {
		f.eventType(t, fmt.Sprintf("%s is an object inside of events.", schema.GoName(t.Name)))
	}
	for _, e := range m.EventEnums {
		f.enumType(e)
	}
	f.formerTypes(m)
	return f.File
}

// eventType writes a struct that encoding/json turns into what the decoder reads: tests give events as values of it.
func (f *eventTypesFile) eventType(t *schema.EventType, comment string) {
	f.comment(comment)
	f.describe(t.Description)
	f.line("type %s struct {", schema.GoName(t.Name))
	for _, field := range t.Fields {
		f.fieldComment(field.Description, field.Deprecated)
		if s := eventScalar(field); s.pkg != "" {
			f.use(s.pkg)
		}
		f.line("%s %s `json:%q`", schema.GoName(field.Name), eventGoType(field), field.Name)
	}
	f.line("}\n")
}

// eventScalar describes the values of a field, or of its elements; of an object it is the Go type alone.
func eventScalar(field *schema.EventField) scalar {
	switch {
	case field.Object != nil:
		return scalar{goType: schema.GoName(field.Object.Name)}
	case field.Enum != "":
		return enum(schema.GoName(field.Enum))
	}
	return Scalars[field.Scalar]
}

func eventGoType(field *schema.EventField) string {
	base := eventScalar(field).goType
	switch {
	case field.List && field.ElemNullable:
		return "[]*" + base
	case field.List:
		return "[]" + base
	case field.Nullable:
		return "*" + base
	}
	return base
}

// Decoders writes how the events are read, and the list of them.
func Decoders(m *schema.Model) *File {
	f := &eventTypesFile{&File{pkg: "event"}}
	f.lib("eventlog")
	f.lib("eventlog/data")
	f.line("// Types are the declared events.")
	f.line("var Types = eventlog.Types{")
	for _, t := range m.Events {
		for _, name := range t.Names() {
			f.line("%q: {Name: %q, Check: check%s%s, Tags: tagsOf%s},", name, t.Name, schema.GoName(t.Name), formerChecks(t),
				schema.GoName(t.Name))
		}
	}
	for _, t := range m.Retired {
		for _, name := range t.Names() {
			f.line("%q: {Name: %q, Retired: true},", name, t.Name)
		}
	}
	f.line("}\n")
	for _, t := range m.Events {
		f.decoder(t, "the data of the event "+t.Name)
		f.tags(t)
		f.reader(t)
		f.upcast(t)
	}
	for _, t := range m.Values {
		f.reader(t)
	}
	for _, e := range slices.Concat(m.EventEnums, m.FormerEnums) {
		name := schema.GoName(e.Name)
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = fmt.Sprintf("%q", v)
		}
		f.line("func read%s(r *data.Reader) %s {\nreturn %s(r.Enum(%s))\n}\n", name, name, name, strings.Join(values, ", "))
	}
	return f.File
}

func (f *eventTypesFile) decoder(t *schema.EventType, what string) {
	name := schema.GoName(t.Name)
	f.line("// Decode%s reads %s. The error is a *eventlog.FieldError.", name, what)
	f.line("func Decode%s(b []byte) (%s, error) { return data.Decode(b, read%s) }\n", name, name, name)
	f.line("func check%s(b []byte) ([]string, error) { return data.Check(b, read%s) }\n", name, name)
}

// tags writes the function that returns the tags of an event.
func (f *eventTypesFile) tags(t *schema.EventType) {
	name := schema.GoName(t.Name)
	fields := tagged(t)
	if len(fields) == 0 {
		f.line("func tagsOf%s([]byte) ([]string, error) { return nil, nil }\n", name)
		return
	}
	f.line("func tagsOf%s(b []byte) ([]string, error) {", name)
	f.line("e, err := Decode%s(b)\nif err != nil {\nreturn nil, err\n}", name)
	result := "tags, nil"
	if t.Version > 1 { // data of all versions have them
		f.line("return tagsIn%s(e), nil\n}\n\nfunc tagsIn%s(e %s) []string {", name, name, name)
		result = "tags"
	}
	f.line("tags := make([]string, 0, %d)", len(fields))
	for _, field := range fields {
		s := eventScalar(field)
		if s.tagPkg != "" {
			f.use(s.tagPkg)
		}
		expr := "e." + schema.GoName(field.Name)
		if !field.Nullable {
			f.line("tags = append(tags, %q+%s)", field.Name+":", fmt.Sprintf(s.tag, expr))
			continue
		}
		value := "*v"
		if field.Scalar == "Decimal" {
			value = "v"
		}
		f.line("if v := %s; v != nil {\ntags = append(tags, %q+%s)\n}", expr, field.Name+":", fmt.Sprintf(s.tag, value))
	}
	f.line("return %s\n}\n", result)
}

// tagged are the fields of an event that are tags of it.
func tagged(t *schema.EventType) []*schema.EventField {
	return slices.DeleteFunc(slices.Clone(t.Fields), func(field *schema.EventField) bool {
		return !field.Tag && !field.PartitionTag
	})
}

// reader writes the function that reads one object.
func (f *eventTypesFile) reader(t *schema.EventType) {
	name := schema.GoName(t.Name)
	f.line("var fieldsOf%s = []data.Field{", name)
	for _, field := range t.Fields {
		f.line("{Name: %q%s},", field.Name, presence(field))
	}
	f.line("}\n")
	f.line("func read%s(r *data.Reader) (v %s) {", name, name)
	f.line("for field := range r.Object(fieldsOf%s) {\nswitch field {", name)
	for i, field := range t.Fields {
		f.line("case %d:\nv.%s = %s", i, schema.GoName(field.Name), readExpr(field))
	}
	f.line("}\n}\nreturn v\n}\n")
}

// presence says what of a field a text must have, and what stands for it.
func presence(field *schema.EventField) string {
	text := ""
	switch {
	case field.Default != "":
		text = fmt.Sprintf(", Default: []byte(%s)", goString(field.Default))
	case !field.Nullable:
		text = ", Required: true"
	}
	if len(field.Was) > 0 {
		// The newest name counts before older ones.
		newest := slices.Clone(field.Was)
		slices.Reverse(newest)
		text += ", Was: " + goStrings(newest)
	}
	return text
}

// goString writes a text as Go does, without a backslash where there is a way.
func goString(text string) string {
	if strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// readExpr is the expression that reads a field.
func readExpr(field *schema.EventField) string {
	fun := "(*data.Reader)." + field.Scalar
	call := "r." + field.Scalar + "()"
	if field.Object != nil || field.Enum != "" {
		fun = "read" + eventScalar(field).goType
		call = fun + "(r)"
	}
	switch {
	case field.List && field.ElemNullable:
		return "data.List(r, data.Nullable(" + fun + "))"
	case field.List:
		return "data.List(r, " + fun + ")"
	case field.Nullable:
		return "new(" + call + ")"
	}
	return call
}
