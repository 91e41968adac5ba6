package keys

import "fmt"

// Layout says how one half of a key is composed: the values of its composite attributes, in order, joined with Sep.
// The zero Layout composes nothing: the half does not exist.
//
// A half of one segment is the bare text of its value. In a half of more segments, wherever the first byte of Sep, or a
// "%", stands in the text of a value, it is percent-escaped; so a separator is always where a value ends. Marks that the
// encoding adds to a number are no part of the value and stay as they are, because its order hangs on them.
//
// The text of a value that may have a fraction (Float, Decimal, and the digits of a date-time below the millisecond) is
// closed by "!" where the separator sorts above what a longer text goes on with: "0000000000000042!/" comes before
// "0000000000000042.5!/", as it should, although "/" comes after ".". Nothing is closed at the end of a half, and
// negative numbers close themselves.
type Layout struct {
	Segments []Segment
	Sep      string
}

// Segment is one composite attribute of a Layout.
type Segment struct {
	Field string // the attribute's name in the model, for messages
	Kind  Kind
}

// Exists reports whether there is such a half at all.
func (l Layout) Exists() bool { return len(l.Segments) > 0 }

// Append appends the text of the half to dst. vals are the values of the segments in order; fewer values than segments
// compose the leading prefix, closed by the separator. It fails with an error that names the field where a value is
// absent, of another kind than the segment's, or has no key text (NaN, a year outside 0000 to 9999).
func (l Layout) Append(dst []byte, vals ...Value) ([]byte, error) {
	if err := l.check(vals); err != nil {
		return dst, err
	}
	if len(l.Segments) == 1 {
		return l.appendBare(dst, vals)
	}
	var err error
	for i, v := range vals {
		if dst, err = v.appendSegment(dst, l.Sep[0], i == len(l.Segments)-1); err != nil {
			return dst, fmt.Errorf("keys: field %s: %w", l.Segments[i].Field, err)
		}
		if i < len(l.Segments)-1 {
			dst = append(dst, l.Sep...)
		}
	}
	return dst, nil
}

// Compose is Append into a new string.
func (l Layout) Compose(vals ...Value) (string, error) {
	if len(l.Segments) == 1 && len(vals) == 1 && l.Segments[0].Kind == KindString && vals[0].kind == KindString {
		return vals[0].text, nil
	}
	var buf [128]byte
	text, err := l.Append(buf[:0], vals...)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// CheckSep reports why sep cannot separate the values of a key: a separator begins with an ASCII character that is
// neither a letter nor a digit nor "%", because a value that holds it is written with those.
func CheckSep(sep string) error {
	if sep == "" {
		return fmt.Errorf("keys: the separator is empty: give one such as %q", "/")
	}
	c := sep[0]
	if c >= 0x80 || c == '%' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
		return fmt.Errorf("keys: the separator %q begins with a letter, a digit, %q or a character beyond ASCII: "+
			"give one such as %q", sep, "%", "/")
	}
	return nil
}

func (l Layout) check(vals []Value) error {
	if len(vals) > len(l.Segments) {
		return fmt.Errorf("keys: %d values for a half of %d fields", len(vals), len(l.Segments))
	}
	for i := range vals {
		switch s := l.Segments[i]; {
		case !vals[i].Present():
			return fmt.Errorf("keys: field %s has no value", s.Field)
		case vals[i].kind != s.Kind:
			return fmt.Errorf("keys: field %s is of kind %v, not %v", s.Field, s.Kind, vals[i].kind)
		}
	}
	if len(l.Segments) > 1 {
		return CheckSep(l.Sep)
	}
	return nil
}

func (l Layout) appendBare(dst []byte, vals []Value) ([]byte, error) {
	if len(vals) == 0 {
		return dst, nil
	}
	dst, err := vals[0].appendText(dst)
	if err != nil {
		return dst, fmt.Errorf("keys: field %s: %w", l.Segments[0].Field, err)
	}
	return dst, nil
}

// appendSegment appends the text of a value as one of several segments. A negative number has closed itself.
func (v Value) appendSegment(dst []byte, sep byte, last bool) ([]byte, error) {
	start := len(dst)
	dst, err := v.appendText(dst)
	if err != nil {
		return dst, err
	}
	closed := !last && v.kind.closed(sep) && dst[start] != '-'
	dst = escape(dst, start, sep, v.kind)
	if closed {
		dst = append(dst, closing)
	}
	return dst, nil
}
