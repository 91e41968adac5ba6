package keys

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
		return len(v.text) + 2*padding
	case v.kind == KindFloat && isLong(v.flt):
		return longFloat + 2*padding
	}
	return 3 * padding
}
