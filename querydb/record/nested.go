package record

import "bytes"

// List calls each with the JSON text of every element in turn until each returns false; ok is false where the text is
// not a list or each stopped.
func List(json []byte, each func(elem []byte) bool) (ok bool) {
	if len(json) < 2 || json[0] != '[' {
		return false
	}
	rest := json[1:]
	for rest[0] != ']' {
		n := element(rest)
		if n == 0 || !each(rest[:n:n]) {
			return false
		}
		if rest = next(rest[n:]); rest == nil {
			return false
		}
	}
	return len(rest) == 1
}

// null is the text of an absent field of an object.
const null = "null"

// Object reads an object into the JSON texts of its fields, nil where one is absent. It has as many as there is room
// for, or ok is false.
func Object(json []byte, fields [][]byte) (ok bool) {
	rest, ok := cutObject(json, fields)
	return ok && len(rest) == 0
}

// Objects reads the objects of a list one after the other. It is done where More is false.
type Objects struct {
	rest []byte // from the next object on; nil where there is no list
}

// ObjectsOf begins to read a list.
func ObjectsOf(json []byte) Objects {
	if len(json) < 2 || json[0] != '[' {
		return Objects{}
	}
	return Objects{json[1:]}
}

// More reports whether there may be another object.
func (o *Objects) More() bool { return len(o.rest) > 0 && o.rest[0] != ']' }

// Next reads the next object, as Object does; where ok is false, there is no more to be read.
func (o *Objects) Next(fields [][]byte) (ok bool) {
	if o.rest, ok = cutObject(o.rest, fields); ok {
		o.rest = next(o.rest)
	} else {
		o.rest = nil
	}
	return ok
}

// Whole reports, when there are no more, whether all of the list was read.
func (o *Objects) Whole() bool { return len(o.rest) == 1 && o.rest[0] == ']' }

// cutObject reads the object that the text begins with, and returns what follows it.
func cutObject(json []byte, fields [][]byte) (rest []byte, ok bool) {
	if isRecord(json) {
		return cutRecord(json, fields)
	}
	if len(json) < 2 || json[0] != '[' {
		return nil, false
	}
	rest = json[1:]
	for i := range fields {
		n := element(rest)
		if n == 0 || n == len(rest) {
			return nil, false
		}
		if fields[i] = rest[:n:n]; string(fields[i]) == null {
			fields[i] = nil
		}
		if last := i == len(fields)-1; last != (rest[n] == ']') {
			return nil, false
		}
		rest = rest[n+1:]
	}
	if len(fields) > 0 {
		return rest, true
	}
	return rest[1:], rest[0] == ']'
}

// next is what follows an element, from the next element or the end of the list on; nil where neither does.
func next(rest []byte) []byte {
	if len(rest) > 0 && rest[0] == ']' {
		return rest
	}
	if len(rest) < 2 || rest[1] == ']' { // a comma is followed by an element
		return nil
	}
	return rest[1:]
}

// element returns the length of the list element that b begins with: up to the comma or the bracket that ends it; 0
// where there is none.
func element(b []byte) int {
	if isRecord(b) {
		return sizeOf(b)
	}
	depth, i := 0, 0
	if len(b) > 0 && b[0] == '"' { // most are strings
		if i = quoted(b); i == 0 {
			return 0
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := quoted(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '[':
			depth++
		case ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// quoted returns the length of the string that b begins with; 0 where it does not end.
func quoted(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n + 1
		if b[i-2] != '\\' || !escapes(b[:i-1]) {
			return i
		}
	}
}

// escapes reports whether what follows the text is escaped: an odd number of backslashes ends it.
func escapes(text []byte) bool {
	n := len(text)
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return (len(text)-n)%2 == 1
}

// An object in a record that BeginRecord has made is a record itself. No JSON begins as it does.

func isRecord(b []byte) bool { return len(b) >= headSize && b[0] == wide }

// sizeOf returns the length of the record that b begins with; 0 where it does not end.
func sizeOf(b []byte) int {
	n := Record(b).Len()
	size := headSize + 4*n
	if len(b) < size {
		return 0
	}
	if n > 0 {
		size += Record(b).end(n - 1)
	}
	if len(b) < size {
		return 0
	}
	return size
}

// cutRecord is cutObject for an object that is a record.
func cutRecord(b []byte, fields [][]byte) (rest []byte, ok bool) {
	r, size := Record(b), sizeOf(b)
	if size == 0 || r.Len() != len(fields) {
		return nil, false
	}
	texts, from := b[headSize+4*len(fields):size], 0
	for i := range fields {
		end := r.end(i)
		if end < from || end > len(texts) {
			return nil, false
		}
		if fields[i] = texts[from:end:end]; from == end {
			fields[i] = nil
		}
		from = end
	}
	return b[size:], true
}
