package keys

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Operands are the sort-key conditions as a read-model query takes them: text of the sort key. Nil means not given.
type Operands struct {
	Eq, Prefix, From, To *string
}

// OperandError says which arguments of a query are wrong, and why.
type OperandError struct {
	Args   []string
	Reason string
}

func (e *OperandError) Error() string { return e.Reason }

// Range turns operands into a condition on this half. eq, prefix and from/to exclude each other: two groups at once is
// an *OperandError that names them. On a half that is one date-time, a complete date-time of any offset is normalised,
// and a partial one means the whole period ("to: 2024-06-30" includes that day); without an offset it is one of UTC. On a
// half that is one number, the text is read as that number. Anything else is taken as text of the key, and so is every
// prefix that is no date-time. What eq, from and to cannot be read as is an *OperandError.
func (l Layout) Range(o Operands) (Range, error) {
	if err := o.check(l); err != nil {
		return Range{}, err
	}
	switch {
	case o.Eq != nil:
		return l.between(&bound{"eq", *o.Eq}, &bound{"eq", *o.Eq})
	case o.Prefix != nil:
		return l.prefix(*o.Prefix), nil
	}
	var from, to *bound
	if o.From != nil {
		from = &bound{"from", *o.From}
	}
	if o.To != nil {
		to = &bound{"to", *o.To}
	}
	return l.between(from, to)
}

// check reports groups of operands that exclude each other.
func (o Operands) check(l Layout) error {
	var args []string
	add := func(name string, s *string) int {
		if s == nil {
			return 0
		}
		args = append(args, name)
		return 1
	}
	groups := add("eq", o.Eq) + add("prefix", o.Prefix) + min(1, add("from", o.From)+add("to", o.To))
	switch {
	case groups > 1:
		return &OperandError{args, "the arguments " + strings.Join(args, " and ") +
			" exclude each other: give eq, or prefix, or from and to"}
	case groups > 0 && !l.Exists():
		return &OperandError{args, "there is no sort key for the argument " + strings.Join(args, " and ")}
	}
	return nil
}

// bound is one end of a range: an argument and its text.
type bound struct{ arg, text string }

// between makes the range of two inclusive bounds, of which either may be nil.
func (l Layout) between(from, to *bound) (r Range, err error) {
	if from != nil {
		if r.Lo, _, err = l.span(*from); err != nil {
			return Range{}, err
		}
		r.Op = AtLeast
	}
	if to == nil {
		return r, nil
	}
	_, hi, err := l.span(*to)
	switch {
	case err != nil:
		return Range{}, err
	case from == nil:
		return Range{Op: AtMost, Lo: hi}, nil
	case r.Lo == hi:
		return Range{Op: Equal, Lo: hi}, nil
	}
	return Range{Op: Between, Lo: r.Lo, Hi: hi}, nil
}

// prefix makes the range of a prefix. The empty prefix begins every key; a partial date-time is its period.
func (l Layout) prefix(text string) Range {
	if text == "" {
		return Range{}
	}
	if l.bare(KindDateTime) {
		if c, ok := parseClock(text); ok && c.complete() {
			if lo, _, ok := c.span(); ok {
				return Range{Op: Prefix, Lo: lo}
			}
		} else if r, err := l.between(&bound{"prefix", text}, &bound{"prefix", text}); ok && err == nil {
			return r
		}
	}
	return Range{Op: Prefix, Lo: text}
}

// span returns the least and the greatest key text that the bound's text stands for.
func (l Layout) span(b bound) (lo, hi string, err error) {
	switch {
	case l.bare(KindDateTime):
		c, ok := parseClock(b.text)
		if ok {
			lo, hi, ok = c.span()
		}
		if !ok {
			return "", "", &OperandError{[]string{b.arg}, fmt.Sprintf("%s: %.40q is not a date-time such as "+
				"2024-01-15T10:30:00Z, nor a part of one such as 2024-01-15", b.arg, b.text)}
		}
		return lo, hi, nil
	case l.bare(KindInt), l.bare(KindFloat), l.bare(KindDecimal):
		d, err := ParseDecimal(b.text)
		if err != nil {
			return "", "", &OperandError{[]string{b.arg}, fmt.Sprintf("%s: %.40q is not a number such as 12.5, or one of "+
				"too many digits", b.arg, b.text)}
		}
		text := string(appendDecimal(nil, l.rounded(d), l.Segments[0].Digits))
		return text, text, nil
	}
	return b.text, b.text, nil
}

// rounded returns the number that a field of this half's kind would hold: a float has the nearest one.
func (l Layout) rounded(d Decimal) Decimal {
	if !l.bare(KindFloat) {
		return d
	}
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return d // beyond every float
	}
	nearest, err := ParseDecimal(strconv.FormatFloat(f, 'f', -1, 64))
	if err != nil {
		return d
	}
	return nearest
}

func (l *Layout) bare(k Kind) bool { return l.isBare() && l.Segments[0].Kind == k }

// span returns the key texts of the first and the last instant meant. ok is false where one has no text.
func (c *clock) span() (lo, hi string, ok bool) {
	first, last := c.start(), c.start()
	if !c.complete() {
		last = c.end().Add(-time.Nanosecond)
	}
	if !inYears(first) || !inYears(last) {
		return "", "", false
	}
	return string(appendKeyTime(nil, first)), string(appendKeyTime(nil, last)), true
}
