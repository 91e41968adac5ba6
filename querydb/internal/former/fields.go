// Package former translates records that were written under a former schema to the fields of the present one.
package former

import (
	"slices"

	"github.com/foldql/foldql/querydb/driver"
)

// Schema is the fields of rows, and the values of the enums among them.
type Schema struct {
	Fields []driver.Field
	Enums  map[string][]string
}

// Fields says where each field of an object of the present schema is in one of the former schema. Fields are the same
// where they have the same name and type; the nil Fields is for objects that are the same.
type Fields struct {
	fields []field
	stored int // how many fields the former object has
}

// field is one of the present schema.
type field struct {
	from     int  // the ordinal in the former object, missing where there is none
	required bool // a former null is none that the field may have
	list     bool
	values   map[string]bool // of an enum that has lost some: the JSON texts of those left; nil for all
	object   *Fields         // nil where the text is the answer as it is
}

const missing = -1

// Compile finds the fields of the present schema in the former one.
func Compile(now, stored Schema) *Fields {
	return compile(&now, &stored, now.Fields, stored.Fields)
}

func compile(now, stored *Schema, have, had []driver.Field) *Fields {
	fs := &Fields{fields: make([]field, len(have)), stored: len(had)}
	same := len(have) == len(had)
	for i := range have {
		f := &fs.fields[i]
		*f = find(now, stored, &have[i], had)
		same = same && f.from == i && !f.changes()
	}
	if same {
		return nil
	}
	return fs
}

// find finds one field.
func find(now, stored *Schema, f *driver.Field, had []driver.Field) field {
	at := slices.IndexFunc(had, func(h driver.Field) bool { return h.Name == f.Name })
	if at < 0 || !sameType(f, &had[at]) {
		return field{from: missing}
	}
	h := &had[at]
	found := field{from: at, required: h.Nullable && !f.Nullable, list: f.List}
	if f.Enum != "" {
		found.values = left(now.Enums[f.Enum], stored.Enums[h.Enum])
	}
	if len(f.Object) > 0 {
		found.object = compile(now, stored, f.Object, h.Object)
	}
	return found
}

// sameType reports whether the text of the former field is of the type of the present one. The names of enums and
// objects do not count: their values and fields say more.
func sameType(f, h *driver.Field) bool {
	return f.Scalar == h.Scalar && f.List == h.List && (f.Enum == "") == (h.Enum == "") &&
		(len(f.Object) == 0) == (len(h.Object) == 0)
}

// left are the JSON texts of those values that an enum has now, nil where it has all that it had.
func left(now, had []string) map[string]bool {
	gone := func(v string) bool { return !slices.Contains(now, v) }
	if !slices.ContainsFunc(had, gone) {
		return nil
	}
	texts := make(map[string]bool, len(now))
	for _, v := range now {
		texts[`"`+v+`"`] = true
	}
	return texts
}

// changes reports whether the text of the field is not always the former one.
func (f *field) changes() bool { return f.required || f.values != nil || f.object != nil }

// Knows reports whether what a present field is, is known of every row.
func (fs *Fields) Knows(i int) bool {
	return fs == nil || fs.fields[i].from != missing && !fs.fields[i].changes()
}

// From are the former ordinals of the present fields, ascending, without those that are not there; nil stays nil.
func (fs *Fields) From(present []int) []int {
	if fs == nil || present == nil {
		return present
	}
	from := make([]int, 0, len(present))
	for _, i := range present {
		if at := fs.fields[i].from; at != missing {
			from = append(from, at)
		}
	}
	slices.Sort(from)
	return from
}
