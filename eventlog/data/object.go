package data

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/foldql/foldql/eventlog/internal/scan"
)

// Field declares one field of an object.
type Field struct {
	Name     string
	Required bool
	// Was are its former names. A text may have the field under several of its names: Name counts before those, and
	// they in their order.
	Was []string
	// Default is the JSON of the value of the field where the text has none, nil for no such value.
	Default []byte
}

// names of a field that a text may have are told apart up to this many.
const maxNames = 16

// presence is what a text has had of a field: bit 0 stands for its name, the others for its former names.
type presence struct {
	given uint16 // the names that were there
	read  uint16 // the one whose value was read last, 0 for none
}

// Object reads an object: it yields, in the order of the text, the place in fields of each field that is there and not
// null, then of each that is not and has a default. The body of the loop reads the value of the field and nothing else,
// with exactly one call; it is called again for a field that the text has under a name that counts before.
func (r *Reader) Object(fields []Field) iter.Seq[int] {
	return func(yield func(int) bool) { r.object(fields, yield) }
}

func (r *Reader) object(fields []Field, yield func(int) bool) {
	if !r.want(scan.Object, "object") || !r.deeper() {
		return
	}
	var room [32]presence
	seen := room[:]
	if len(fields) > len(room) {
		seen = make([]presence, len(fields))
	}
	if !r.check(r.text.Open('{')) {
		return
	}
	r.path = append(r.path, step{index: -1})
	var others surplus
	if r.members(fields, seen, &others, yield) {
		r.path = r.path[:len(r.path)-1]
		r.missing(fields, seen, &others, yield)
	}
}

// surplus are the first names of an object that are not declared, as the text has them. They are kept without a copy,
// since they matter only where a field is missing.
type surplus struct {
	names [8][]byte
	n     int
}

func (s *surplus) add(name []byte) {
	if s.n < len(s.names) {
		s.names[s.n] = name
		s.n++
	}
}

// meant says which of the names may stand for a missing field: the one that is most like it, at one letter of three.
func (s *surplus) meant(field string) string {
	best, least := "", max(1, len(field)/3)+1
	for _, name := range s.names[:s.n] {
		if len(name) > 2*len(field) {
			continue
		}
		if d := levenshtein.ComputeDistance(strings.ToLower(string(name)), strings.ToLower(field)); d < least &&
			d < len(field) {
			best, least = shortened(name), d
		}
	}
	if best == "" {
		return ""
	}
	return "; there is " + strconv.Quote(best) + ", which is not declared: is it meant?"
}

// members reads up to the closing bracket and reports whether it got there.
func (r *Reader) members(fields []Field, seen []presence, others *surplus, yield func(int) bool) bool {
	guess := 0
	for first := true; ; first = false {
		more, err := r.text.More(first, '}')
		if !r.check(err) || !more {
			return r.err == nil
		}
		name, err := r.text.Name()
		if !r.check(err) {
			return false
		}
		i, former := find(fields, name, guess)
		if i < 0 {
			others.add(name)
			r.undeclared.add(r.path, name)
			if !r.skip(name) {
				return false
			}
			continue
		}
		r.path[len(r.path)-1].field = fields[i].Name
		if former > 0 {
			r.path[len(r.path)-1].field = fields[i].Was[former-1]
		}
		guess = i + 1
		if !r.member(&fields[i], uint16(1)<<min(former, maxNames-1), &seen[i], i, yield) {
			return false
		}
	}
}

// member reads the value of one declared field, which the text has under the name that the bit stands for.
func (r *Reader) member(f *Field, name uint16, seen *presence, i int,
	yield func(int) bool) bool {
	if seen.given&name != 0 {
		r.Fail("given twice")
		return false
	}
	seen.given |= name
	switch {
	case r.text.Kind() == scan.Null:
		if f.Required && len(f.Was) == 0 {
			r.Fail("required, got null")
			return false
		}
		return r.check(r.text.Null())
	case seen.read != 0 && seen.read < name:
		_, err := r.text.Skip()
		return r.check(err)
	}
	seen.read = name
	return yield(i) && r.err == nil
}

// skip checks the value of a field that is not declared.
func (r *Reader) skip(name []byte) bool {
	if _, err := r.text.Skip(); err != nil {
		r.path[len(r.path)-1].field = shortened(name)
		return r.check(err)
	}
	return true
}

// shortened is a name of the text for a message, cut where it is long.
func shortened(name []byte) string {
	const most = 64
	if len(name) <= most {
		return string(name)
	}
	return string(bytes.ToValidUTF8(name[:most], nil)) + "…"
}

// missing reads the defaults of fields that were not there, or records the first required one, and what may have been
// written in place of it.
func (r *Reader) missing(fields []Field, seen []presence, others *surplus, yield func(int) bool) {
	for i := range fields {
		f := &fields[i]
		switch {
		case seen[i].read != 0:
		case f.Default != nil:
			if !readDefault(r, f, i, yield) {
				return
			}
		case f.Required:
			r.path = append(r.path, step{field: f.Name, index: -1})
			if seen[i].given != 0 {
				r.Fail("required, got null")
			} else {
				r.Fail("required, but missing" + others.meant(f.Name))
			}
			return
		}
	}
}

// readDefault has the default of a field read in the place of a value of the text.
func readDefault(r *Reader, f *Field, i int, yield func(int) bool) bool {
	text := r.text
	r.text = scan.Scanner{}
	r.text.Reset(f.Default)
	r.path = append(r.path, step{field: f.Name, index: -1})
	more := yield(i)
	if r.err == nil {
		r.path = r.path[:len(r.path)-1]
	}
	r.text = text
	return more && r.err == nil
}

// find returns where the field is, -1 for nowhere, and which of its former names it has, counted from 1, 0 for none.
// Producers mostly write fields in one order, so the one after the last is tried first.
func find(fields []Field, name []byte, guess int) (at, former int) {
	if guess < len(fields) && fields[guess].Name == string(name) {
		return guess, 0
	}
	for i := range fields {
		if fields[i].Name == string(name) {
			return i, 0
		}
	}
	for i := range fields {
		for j, was := range fields[i].Was {
			if was == string(name) {
				return i, j + 1
			}
		}
	}
	return -1, 0
}

// deeper reports whether another object or list may be entered.
func (r *Reader) deeper() bool {
	if len(r.path) < scan.MaxDepth {
		return true
	}
	r.Fail("nested too deeply")
	return false
}
