package keys

import (
	"fmt"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Append appends the text of the half to dst. vals are the values of the segments in order; fewer values than segments
// compose what all keys begin with that have them: the values, closed by the separator, and the whole literals that
// must follow. It fails with an error that names the field where a value is absent, of another kind than the segment's,
// or has no key text (NaN, a year outside 0000 to 9999).
func (l Layout) Append(dst []byte, vals ...Value) ([]byte, error) {
	return l.appendPart(dst, vals, closedPart)
}

// Compose is Append into a new string: at most one allocation.
func (l Layout) Compose(vals ...Value) (string, error) {
	if len(vals) == 1 && vals[0].kind == KindString && isText(&l) {
		return vals[0].text, nil
	}
	return l.text(vals, closedPart)
}

// ComposeTruncated composes the half of its leading values alone, without a separator after them: the key of a row that
// is kept at a higher level of its hierarchy, because the composites below are absent. All values make the whole key.
// Which of these keys a write stores in an index is decided in indexupdate.go.
func (l Layout) ComposeTruncated(vals ...Value) (string, error) {
	return l.text(vals, openPart)
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
			dst = encoding.Escape(dst, start, l.Sep[0], v.kind.isNumber())
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

// closed reports whether texts of the kind, before a separator that begins with sep, need a closing mark to keep their
// order: whether the text of a greater value may go on, where this one has its separator, with a byte that sorts at or
// below the separator. The mark sorts below any such byte.
func (k Kind) closed(sep byte) bool {
	switch k {
	case KindFloat, KindDecimal:
		return sep >= '.'
	case KindDateTime:
		return sep > '9'
	}
	return false
}

// closing is the mark. It sorts below the percent sign, with which an escaped point begins.
const closing = '!'

// small is how many bytes most keys have at most, large how many any key may have that a driver takes, and more.
const (
	small = 256
	large = 2 * MaxPK
)

// text makes a string of what appendPart appends: on the stack first, so that the string is the one allocation.
func (l *Layout) text(vals []Value, part part) (string, error) {
	if l.room(vals) > small {
		return l.longText(vals, part)
	}
	var buf [small]byte
	text, err := l.appendPart(buf[:0], vals, part)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

func (l *Layout) longText(vals []Value, part part) (string, error) {
	var buf [large]byte
	text, err := l.appendPart(buf[:0], vals, part)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// room returns how many bytes the text of the values has at most.
func (l *Layout) room(vals []Value) int {
	n := len(l.Head) + len(l.Sep) + len(l.Tail)
	for i := range l.Segments {
		n += len(l.Segments[i].Before) + len(l.Sep) + max(0, l.Segments[i].Digits)
	}
	for i := range vals {
		n += vals[i].room()
	}
	return n
}

// room returns how many bytes the text of a value has at most, every one of a string's escaped.
func (v *Value) room() int {
	switch {
	case v.kind == KindString:
		return 3 * len(v.text)
	case v.kind == KindDecimal:
		return len(v.text) + 2*encoding.Padding
	case v.kind == KindFloat:
		return encoding.FloatRoom(v.flt) + 2*encoding.Padding
	}
	return 3 * encoding.Padding
}
