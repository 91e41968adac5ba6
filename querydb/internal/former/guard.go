package former

import "github.com/foldql/foldql/querydb/record"

// Guard finds what is not known of rows of a schema that another program may have written, one of the same layout whose
// enums have other values. It is nil where the schema has no enums.
func Guard(s Schema) *Fields {
	wider := Schema{Fields: s.Fields, Enums: make(map[string][]string, len(s.Enums))}
	for name, values := range s.Enums {
		wider.Enums[name] = append([]string{""}, values...) // which is none of theirs
	}
	return Compile(s, wider)
}

// KnowsAll reports whether there is nothing in a record that Translate has for unknown.
func (fs *Fields) KnowsAll(rec record.Record) bool {
	if fs == nil || rec == nil {
		return true
	}
	for i := range fs.fields {
		f := &fs.fields[i]
		if f.from != missing && !f.changes() {
			continue
		}
		if f.from == missing || !f.knows(rec.JSON(f.from)) {
			return false
		}
	}
	return true
}

// knows reports whether a former text says all of the field.
func (f *field) knows(text []byte) bool {
	switch {
	case text == nil:
		return !f.required
	case record.IsUnknown(text): // of a record that was translated before
		return true
	case f.values != nil:
		return f.hasValues(text)
	case f.object == nil:
		return true
	case !f.list:
		return f.object.knowsObject(text)
	}
	return record.List(text, f.object.knowsObject)
}

func (fs *Fields) knowsObject(text []byte) bool {
	if fs == nil || string(text) == "null" {
		return true
	}
	stored := make([][]byte, fs.stored)
	if !record.Object(text, stored) {
		return false
	}
	for i := range fs.fields {
		if f := &fs.fields[i]; f.from == missing || f.changes() && !f.knows(stored[f.from]) {
			return false
		}
	}
	return true
}
