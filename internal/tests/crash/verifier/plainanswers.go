package verifier

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// plainKey says which row of a plain fold: by the names that answers have for it.
type plainKey struct{ model, id string }

// plainHistory is what rows of a plain fold were, one version after another: as pages of one row, or of all events of a
// history.
func plainHistory(rows []PlainRow) map[plainKey][]version {
	changes := map[plainKey][]change{}
	for _, r := range rows {
		key := plainKey{r.Model.Name, r.ID}
		for _, v := range r.Versions {
			c := change{v.At, r.Row.Key, ""}
			if v.Record != nil {
				c.text = plainForm(r.Model, v.Record)
			}
			changes[key] = append(changes[key], c)
		}
	}
	all := map[plainKey][]version{}
	for key, list := range changes {
		all[key] = pages(list)
	}
	return all
}

// change is what an event has made of a row: "" for none.
type change struct {
	at   driver.Position
	key  keys.Key
	text string
}

// pages are what a page of rows was after each event.
func pages(changes []change) (versions []version) {
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at.Offset, b.at.Offset), cmp.Compare(a.at.Step, b.at.Step))
	})
	there := map[keys.Key]string{}
	for _, c := range changes {
		if delete(there, c.key); c.text != "" {
			there[c.key] = c.text
		}
		if n := len(versions); n > 0 && versions[n-1].at == c.at { // of the same event
			versions = versions[:n-1]
		}
		versions = append(versions, version{c.at, page(there)})
	}
	return versions
}

// plainAnswer verifies an answer about one row without the copies that follow later, or about its history: it must be
// what the row was at some moment since the checkpoint, or between two such moments.
func (c *comparison) plainAnswer(a *Answer) {
	c.verdict.Answers++
	var list []string
	for _, row := range a.Rows {
		list = append(list, withoutNulls(string(row)))
	}
	versions := c.plainHistory[plainKey{a.Model, a.ID}]
	text := "[" + strings.Join(list, ",") + "]"
	if held(versions, a.After, text) || !a.OneMoment && between(since(versions, a.After), list) {
		return
	}
	last := "[]"
	if n := len(versions); n > 0 {
		last = versions[n-1].text
	}
	c.differ("%s, asked when the checkpoint was %d, was answered as at no time since by a plain fold:\n"+
		"  last %s\n  got  %s", a.Question, a.After, last, text)
}

// between reports whether a page may have been read while it changed: each of its rows is in one of the versions, and
// it has those that are in all of them. No two rows of one page read the same.
func between(versions []version, list []string) bool {
	in := map[string]int{} // how many versions have the row
	for _, v := range versions {
		var rows []json.RawMessage
		if err := json.Unmarshal([]byte(v.text), &rows); err != nil {
			panic(err) // it was made of JSON
		}
		for _, row := range texts(rows) {
			in[row]++
		}
	}
	got := map[string]bool{}
	for _, row := range list {
		if in[row] == 0 || got[row] {
			return false
		}
		got[row] = true
	}
	for row, n := range in {
		if n == len(versions) && !got[row] {
			return false
		}
	}
	return true
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

// plainForm is a row in the form of withoutNulls, but for what the API does not show.
func plainForm(m *querydb.Model, rec record.Record) string {
	row := map[string]any{}
	for i := range m.Fields {
		var v any
		isAsked := !strings.HasPrefix(m.Fields[i].Name, "_")
		if value := rec.JSON(i); isAsked && value != nil && json.Unmarshal(value, &v) == nil {
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

// withoutNulls is a JSON text in one of its forms, without what is null or an empty list: so is what was not asked for.
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
			if list, ok := value.([]any); value == nil || ok && len(list) == 0 {
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
