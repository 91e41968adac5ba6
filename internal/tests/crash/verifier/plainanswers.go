package verifier

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// plainKey says which row of a plain fold: by the names that answers have for it.
type plainKey struct{ model, id string }

// plainHistory is what rows of a plain fold were, one version after another, as pages of one row.
func plainHistory(rows []PlainRow) map[plainKey][]version {
	all := map[plainKey][]version{}
	for _, r := range rows {
		var versions []version
		for _, v := range r.Versions {
			text := "[]"
			if v.Record != nil {
				text = "[" + plainForm(r.Model, v.Record) + "]"
			}
			if n := len(versions); n > 0 && versions[n-1].at == v.At { // of the same event
				versions = versions[:n-1]
			}
			versions = append(versions, version{v.At, text})
		}
		all[plainKey{r.Model.Name, r.ID}] = versions
	}
	return all
}

// plainAnswer verifies an answer about one row without the copies that follow later: it must be what the row was at
// some moment since the checkpoint.
func (c *comparison) plainAnswer(a *Answer) {
	c.verdict.Answers++
	text := "[]"
	if len(a.Rows) > 0 {
		text = "[" + withoutNulls(string(a.Rows[0])) + "]"
	}
	versions := c.plainHistory[plainKey{a.Model, a.ID}]
	if held(versions, a.After, text) {
		return
	}
	last := "[]"
	if n := len(versions); n > 0 {
		last = versions[n-1].text
	}
	c.differ("%s, asked when the checkpoint was %d, was answered as at no time since by a plain fold:\n"+
		"  last %s\n  got  %s", a.Question, a.After, last, text)
}

// rendered is a row as the API answers with all of it.
func rendered(m *querydb.Model, rec record.Record) string {
	fields := make([]string, len(m.Fields))
	for i := range m.Fields {
		value := rec.JSON(i)
		if value == nil {
			value = []byte("null")
		}
		fields[i] = fmt.Sprintf("%q:%s", m.Fields[i].Name, value)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// plainForm is a row in the form of withoutNulls.
func plainForm(m *querydb.Model, rec record.Record) string {
	row := map[string]any{}
	for i := range m.Fields {
		var v any
		if value := rec.JSON(i); value != nil && json.Unmarshal(value, &v) == nil {
			row[m.Fields[i].Name] = named(&m.Fields[i], v)
		}
	}
	return formed(row)
}

// named is the value of a field with the names of what is in it: records hold objects as lists of their fields.
func named(f *driver.Field, v any) any {
	values, ok := v.([]any)
	if !ok || f.Object == nil {
		return v
	}
	if f.List {
		element := *f
		element.List = false
		for i := range values {
			values[i] = named(&element, values[i])
		}
		return values
	}
	object := map[string]any{}
	for i := range min(len(values), len(f.Object)) {
		object[f.Object[i].Name] = named(&f.Object[i], values[i])
	}
	return object
}

// withoutNulls is a JSON text in one of its forms, without what is null: so is what was not asked for.
func withoutNulls(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	return formed(v)
}

func formed(v any) string {
	b, err := json.Marshal(dropNulls(v))
	if err != nil {
		panic(err) // it was JSON
	}
	return string(b)
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil {
				delete(v, name)
			} else {
				v[name] = dropNulls(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}
