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
}

// Object reads an object: it yields, in the order of the text, the place in fields of each field that is there and not
// null. The body of the loop reads the value of the field and nothing else, with exactly one call.
func (r *Reader) Object(fields []Field) iter.Seq[int] {
	return func(yield func(int) bool) { r.object(fields, yield) }
}

func (r *Reader) object(fields []Field, yield func(int) bool) {
	if !r.want(scan.Object, "object") || !r.deeper() {
		return
	}
	var room [32]bool
	seen := room[:]
	if len(fields) > len(room) {
		seen = make([]bool, len(fields))
	}
	if !r.check(r.text.Open('{')) {
		return
	}
	r.path = append(r.path, step{index: -1})
	var others surplus
	if r.members(fields, seen, &others, yield) {
		r.path = r.path[:len(r.path)-1]
		r.missing(fields, seen, &others)
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
func (r *Reader) members(fields []Field, seen []bool, others *surplus, yield func(int) bool) bool {
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
		i := find(fields, name, guess)
		if i < 0 {
			others.add(name)
			if !r.skip(name) {
				return false
			}
			continue
		}
		r.path[len(r.path)-1].field = fields[i].Name
		guess = i + 1
		if !r.member(fields[i], &seen[i], i, yield) {
			return false
		}
	}
}

// member reads the value of one declared field.
func (r *Reader) member(f Field, seen *bool, i int, yield func(int) bool) bool {
	if *seen {
		r.Fail("given twice")
		return false
	}
	if r.text.Kind() == scan.Null {
		if f.Required {
			r.Fail("required, got null")
			return false
		}
		*seen = true
		return r.check(r.text.Null())
	}
	*seen = true
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

// missing records the first required field that was not there, and what may have been written in place of it.
func (r *Reader) missing(fields []Field, seen []bool, others *surplus) {
	for i, f := range fields {
		if f.Required && !seen[i] {
			r.path = append(r.path, step{field: f.Name, index: -1})
			r.Fail("required, but missing" + others.meant(f.Name))
			return
		}
	}
}

// find returns where the field is, -1 for nowhere. Producers mostly write fields in one order, so the one after the
// last is tried first.
func find(fields []Field, name []byte, guess int) int {
	if guess < len(fields) && fields[guess].Name == string(name) {
		return guess
	}
	for i := range fields {
		if fields[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// deeper reports whether another object or list may be entered.
func (r *Reader) deeper() bool {
	if len(r.path) < scan.MaxDepth {
		return true
	}
	r.Fail("nested too deeply")
	return false
}
