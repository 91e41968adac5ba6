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
	values   map[string]bool // of an enum, where the former text may be another: the JSON texts of all; else nil
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
	if values := now.Enums[f.Enum]; f.Enum != "" && (h.Enum == "" || loses(values, stored.Enums[h.Enum])) {
		found.values = texts(values)
	}
	if len(f.Object) > 0 {
		found.object = compile(now, stored, f.Object, h.Object)
	}
	return found
}

// sameType reports whether the text of the former field is of the type of the present one. Enums, and the names of
// objects, do not count: values and fields say more.
func sameType(f, h *driver.Field) bool {
	return f.Scalar == h.Scalar && f.List == h.List && (len(f.Object) == 0) == (len(h.Object) == 0)
}

// loses reports whether an enum had values that it does not have now.
func loses(now, had []string) bool {
	return slices.ContainsFunc(had, func(v string) bool { return !slices.Contains(now, v) })
}

// texts are the JSON texts of the values of an enum.
func texts(values []string) map[string]bool {
	all := make(map[string]bool, len(values))
	for _, v := range values {
		all[`"`+v+`"`] = true
	}
	return all
}

// changes reports whether the text of the field is not always the former one.
func (f *field) changes() bool { return f.required || f.values != nil || f.object != nil }

// Knows reports whether what a present field is, is known of every row.
func (fs *Fields) Knows(i int) bool {
	return fs == nil || fs.fields[i].from != missing && !fs.fields[i].changes()
}

// Has reports whether former rows have a present field, if not all of them a value that is known.
func (fs *Fields) Has(i int) bool { return fs == nil || fs.fields[i].from != missing }

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
