package keys

import "fmt"

// Layout says how one half of a key is composed: literal text and the values of the composite attributes, in order,
// joined with Sep. It is data: [EntityKey] and [Template] make the layouts of their forms when code is generated, and
// the generated code holds them as literals. The zero Layout composes nothing: the half does not exist.
//
// A half of one segment and nothing else is the bare text of its value. In any other half, wherever the first byte of
// Sep, or a "%", stands in the text of a value, it is percent-escaped; so a separator is always where a value ends.
// Marks that the encoding adds to a number are no part of the value and stay as they are, because its order hangs on
// them. EscapeNone leaves values as they are, for tables that others write too; distinct values may then share a key.
//
// The text of a value that may have a fraction (Float, Decimal, and the digits of a date-time below the millisecond) is
// closed by "!" where the separator sorts above what a longer text goes on with: "0000000000000042!/" comes before
// "0000000000000042.5!/", as it should, although "/" comes after ".". Nothing is closed at the end of a half, and
// negative numbers close themselves.
type Layout struct {
	Head     string // literal text that every key begins with, without the separator after it
	Segments []Segment
	Tail     string // literal text that every whole key ends with, without the separator before it
	Sep      string
	Casing   Casing // of the values; literal text is in its casing already
	Escape   Escape
	// Truncates says that partial writes may keep a row under its leading composites alone: Select looks there too.
	Truncates bool
}

// Segment is one composite attribute of a Layout.
type Segment struct {
	Field  string // the attribute's name in the model, for messages
	Kind   Kind
	Before string // literal text before the value: its name in the key, or whole literals, each with its separator
	Digits int    // how many integer digits a number has at least; 0 means 16, Unpadded means as many as it has
}

// Escape says what becomes of a separator inside a value.
type Escape uint8

// The ways to write a separator, or a "%", inside a value.
const (
	EscapePercent Escape = iota
	EscapeNone
)

// Exists reports whether there is such a half at all.
func (l Layout) Exists() bool { return len(l.Segments) > 0 || l.Head != "" }

// isBare reports whether the half is the bare text of one value.
func (l *Layout) isBare() bool {
	return len(l.Segments) == 1 && l.Head == "" && l.Tail == "" && l.Segments[0].Before == ""
}

// Append appends the text of the half to dst. vals are the values of the segments in order; fewer values than segments
// compose what all keys begin with that have them: the values, closed by the separator, and the whole literals that
// must follow. It fails with an error that names the field where a value is absent, of another kind than the segment's,
// or has no key text (NaN, a year outside 0000 to 9999).
func (l Layout) Append(dst []byte, vals ...Value) ([]byte, error) {
	return l.appendPart(dst, vals, closedPart)
}

// Compose is Append into a new string: at most one allocation.
func (l Layout) Compose(vals ...Value) (string, error) {
	if len(vals) == 1 && vals[0].kind == KindString && l.Casing == CasingNone && l.isBare() && l.Segments[0].Kind == KindString {
		return vals[0].text, nil
	}
	return l.text(vals, closedPart)
}

// part says how the text of fewer values than segments ends.
type part uint8

const (
	closedPart part = iota // as Append says
	openPart               // where the last value ends
)

func (l *Layout) appendPart(dst []byte, vals []Value, part part) ([]byte, error) {
	if err := l.check(vals); err != nil {
		return dst, err
	}
	whole := len(vals) == len(l.Segments)
	tail, next := whole && l.Tail != "", !whole && part == closedPart
	dst, err := l.appendValues(dst, vals, tail || next)
	switch {
	case err != nil:
		return dst, err
	case tail:
		return append(append(dst, l.Sep...), l.Tail...), nil
	case next:
		return l.appendNext(dst, len(vals)), nil
	}
	return dst, nil
}

// appendValues appends the head and the leading values. follows says whether a separator follows them.
func (l *Layout) appendValues(dst []byte, vals []Value, follows bool) ([]byte, error) {
	dst = append(dst, l.Head...)
	bare := l.isBare()
	for i, v := range vals {
		s := &l.Segments[i]
		if i > 0 || l.Head != "" {
			dst = append(dst, l.Sep...)
		}
		dst = append(dst, s.Before...)
		start := len(dst)
		var err error
		if dst, err = v.appendText(dst, s.Digits, l.Casing); err != nil {
			return dst, fmt.Errorf("keys: field %s: %w", s.Field, err)
		}
		if bare {
			return dst, nil
		}
		closed := (i < len(vals)-1 || follows) && v.kind.closed(l.Sep[0]) && dst[start] != '-'
		if l.Escape == EscapePercent {
			dst = escape(dst, start, l.Sep[0], v.kind)
		}
		if closed {
			dst = append(dst, closing)
		}
	}
	return dst, nil
}

// appendNext closes the head and the first n values, and appends the whole literals before the next one.
func (l *Layout) appendNext(dst []byte, n int) []byte {
	if n > 0 || l.Head != "" {
		dst = append(dst, l.Sep...)
	}
	literals, _ := l.cutBefore(n)
	return append(dst, literals...)
}

// cutBefore cuts the literal text before a value into whole literals, each with its separator, and the value's name.
func (l *Layout) cutBefore(i int) (literals, name string) {
	before := l.Segments[i].Before
	for at := len(before); at >= len(l.Sep) && l.Sep != ""; at-- {
		if before[at-len(l.Sep):at] == l.Sep {
			return before[:at], before[at:]
		}
	}
	return "", before
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

func (l *Layout) check(vals []Value) error {
	if len(vals) > len(l.Segments) {
		return fmt.Errorf("keys: %d values for a half of %d fields", len(vals), len(l.Segments))
	}
	for i := range vals {
		switch s := &l.Segments[i]; {
		case !vals[i].Present():
			return fmt.Errorf("keys: field %s has no value", s.Field)
		case vals[i].kind != s.Kind:
			return fmt.Errorf("keys: field %s is of kind %v, not %v", s.Field, s.Kind, vals[i].kind)
		}
	}
	if len(l.Segments) > 0 && !l.isBare() {
		return CheckSep(l.Sep)
	}
	return nil
}
