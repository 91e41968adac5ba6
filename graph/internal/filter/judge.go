package filter

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// Judge says of one row after another whether they meet a filter. It decodes each field of a row once, when the first
// condition asks for it: once for each of many conditions would take far longer than to read the row. It is not safe
// for concurrent use; a filter may have several.
type Judge struct {
	of     *Filter
	values []value // of the fields of the filter, in the row that is judged
	looked int     // how many bytes of the row conditions have looked at, those that several have as often
}

const (
	// RowBytes is how many bytes conditions look at in a row that counts as one.
	RowBytes = 64 << 10
	// elementBytes is what an element of a list counts beside its text: to find it among those that are sought takes as
	// long as to look at a text of about this length.
	elementBytes = 64
)

// Judge is a judge of rows by the filter.
func (f *Filter) Judge() *Judge { return &Judge{of: f, values: make([]value, len(f.fields))} }

// Extra is how many rows more the row counts as that was judged last, for what the conditions looked at: each at the
// text of its field.
func (j *Judge) Extra() int { return j.looked / RowBytes }

// Holds reports whether the row meets the filter.
func (j *Judge) Holds(rec record.Record) (bool, error) {
	j.looked = 0
	for i, field := range j.of.fields {
		text := rec.JSON(field.Ordinal)
		if record.IsUnknown(text) {
			return false, &UnknownError{field.Name}
		}
		v := &j.values[i]
		v.text, v.decoded = text, false
	}
	return j.of.root.holds(j), nil
}

// field is a field that a filter has conditions on.
type field struct {
	*catalog.Field
	index  int    // among those of the filter
	scalar string // of the value, or of the elements of a list
	list   bool
	sought []keys.Value // the elements that conditions ask a list for, in ascending order
}

// value is what a judge knows of a field of a row.
type value struct {
	text    []byte // nil where the field is absent
	decoded bool
	ok      bool // the text is of the type of the field
	value   keys.Value
	found   []bool // of a list: which of the elements that are sought it has
}

// value is the value of a field that is no list; ok is false where the row has none.
func (j *Judge) value(f *field) (v *keys.Value, ok bool) {
	of := &j.values[f.index]
	if !of.decoded {
		of.value, of.ok = record.KeyValue(f.scalar, of.text)
		of.decoded = true
	}
	j.looked += len(of.text)
	return &of.value, of.ok
}

// contains reports whether a list has an element, one of those that are sought. All of them are looked for at once.
func (j *Judge) contains(f *field, sought keys.Value) bool {
	of := &j.values[f.index]
	if !of.decoded {
		j.looked += len(of.text) + elementBytes*of.find(f)
		of.decoded = true
	}
	i, _ := f.indexOf(sought)
	return of.found[i]
}

// find looks for the elements that are sought, until it has found all of them, and returns how many it has looked at.
func (v *value) find(f *field) (elements int) {
	if v.found == nil {
		v.found = make([]bool, len(f.sought))
	}
	clear(v.found)
	missing := len(f.sought)
	record.List(v.text, func(elem []byte) bool {
		elements++
		if is, ok := record.KeyValue(f.scalar, elem); ok {
			if i, there := f.indexOf(is); there && !v.found[i] {
				v.found[i] = true
				missing--
			}
		}
		return missing > 0
	})
	return elements
}

// indexOf is where an element stands among those that are sought.
func (f *field) indexOf(v keys.Value) (i int, there bool) {
	return slices.BinarySearchFunc(f.sought, v, keys.Value.Compare)
}
