package keys

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the operands, as queries and errors call them.
const (
	OperandEq     = "eq"
	OperandPrefix = "prefix"
	OperandFrom   = "from"
	OperandTo     = "to"
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

// ParseOperands turns operands into a condition on those values of this half that are not given; where none is given,
// on the whole half. eq, prefix and from/to exclude each other: two groups at once is an *OperandError that names them.
//
// The text of an operand is values in order, joined with the separator. A separator or a "%" inside of one is written
// as keys write it, "%2F". Each is read as what it is, however it is written: 1 finds the number that a key pads with
// zeros. eq has all values, the others leading ones. from and to are inclusive, and cover all that lies under their
// values.
//
// A complete date-time of any offset is that instant; a part of a date or a date-time, which ends the text, stands for
// its whole period ("to: 2024-06-30" includes that day), and is one of UTC where it has no offset. The last value of a
// prefix is the beginning of a string, of a date or of a date-time; a number or a boolean is meant whole.
//
// What cannot be read so, and thus would select nothing, is an *OperandError.
func (l Layout) ParseOperands(o Operands, given ...Value) (Range, error) {
	if err := o.check(l, given); err != nil {
		return Range{}, err
	}
	var ranges []Range
	var err error
	switch {
	case o.Eq != nil:
		ranges, err = l.equal(OperandEq, *o.Eq, given)
	case o.Prefix != nil:
		ranges, err = l.beginning(*o.Prefix, given)
	default:
		ranges, err = l.inclusive(o.From, o.To, given)
	}
	if err != nil {
		return Range{}, err
	}
	return ranges[0], nil // no half of a read model truncates or has a casing, so there is one
}

// ParseKey returns the key that the text of an argument stands for. The text is that of eq; arg names the argument in
// errors. The text of a period is an *OperandError.
func (l Layout) ParseKey(arg, text string) (string, error) {
	ranges, err := l.equal(arg, text, nil)
	if err != nil {
		return "", err
	}
	if ranges[0].Op != RangeEqual {
		return "", &OperandError{[]string{arg}, fmt.Sprintf("%s: %.40q is a period, and one whole key is needed", arg, text)}
	}
	return ranges[0].Lo, nil
}

// check reports groups of operands that exclude each other, or have no value to be about.
func (o Operands) check(l Layout, given []Value) error {
	var args []string
	add := func(name string, s *string) int {
		if s == nil {
			return 0
		}
		args = append(args, name)
		return 1
	}
	groups := add(OperandEq, o.Eq) + add(OperandPrefix, o.Prefix) + min(1, add(OperandFrom, o.From)+add(OperandTo, o.To))
	switch {
	case groups > 1:
		return exclusive(args)
	case groups > 0 && !l.Exists():
		return &OperandError{args, "there is no sort key for the argument " + strings.Join(args, " and ")}
	case groups > 0 && len(given) == len(l.Segments):
		return noneLeft(args)
	}
	return nil
}

func exclusive(args []string) error {
	return &OperandError{args, "the arguments " + strings.Join(args, " and ") +
		" exclude each other: give eq, or prefix, or from and to"}
}

func noneLeft(args []string) error {
	return &OperandError{args, "all fields of the sort key are given: there is none left for the argument " +
		strings.Join(args, " and ")}
}

// equal returns the range of the rows that have all values that the text stands for.
func (l Layout) equal(arg, text string, given []Value) ([]Range, error) {
	l = l.exact()
	first, last, err := l.read(arg, text, given)
	switch {
	case err != nil:
		return nil, err
	case len(first) < len(l.Segments):
		return nil, &OperandError{[]string{arg}, fmt.Sprintf("%s: %.40q is not all of %s: write it as %s", arg, text,
			fieldList(l.Segments[len(given):]), l.form(len(given)))}
	}
	return l.between(given, first, last)
}

// inclusive returns the range between two inclusive bounds, of which either may be nil.
func (l Layout) inclusive(from, to *string, given []Value) ([]Range, error) {
	l = l.exact()
	var lo, hi []Value
	var err error
	if from != nil {
		if lo, _, err = l.read(OperandFrom, *from, given); err != nil {
			return nil, err
		}
	}
	if to != nil {
		if _, hi, err = l.read(OperandTo, *to, given); err != nil {
			return nil, err
		}
	}
	if from == nil && to == nil {
		return l.under(given)
	}
	return l.between(given, lo, hi)
}

// beginning returns the ranges of the rows whose values, after the given ones, begin with the text.
func (l Layout) beginning(text string, given []Value) ([]Range, error) {
	l = l.exact()
	parts := l.split(text)
	leading, err := l.readLeading(OperandPrefix, text, parts, given)
	if err != nil {
		return nil, err
	}
	final := parts[len(parts)-1]
	if final == "" {
		return l.under(leading)
	}
	s := l.Segments[len(leading)]
	switch s.Kind {
	case KindString, KindDate, KindDateTime:
		if final, err = l.unescape(OperandPrefix, final); err != nil {
			return nil, err
		}
		return l.begins(leading, final)
	}
	v, _, err := l.readValue(OperandPrefix, final, s)
	if err != nil {
		return nil, err
	}
	return l.under(append(leading, v))
}

// read reads the values of a text after the given ones. first and last, the given ones included, differ in the last
// value where that is a period.
func (l *Layout) read(arg, text string, given []Value) (first, last []Value, err error) {
	parts := l.split(text)
	leading, err := l.readLeading(arg, text, parts, given)
	if err != nil {
		return nil, nil, err
	}
	s, final := l.Segments[len(leading)], parts[len(parts)-1]
	if final == "" && s.Kind != KindString && len(parts) > 1 {
		return leading, leading, nil // a separator that nothing follows
	}
	from, to, err := l.readValue(arg, final, s)
	if err != nil {
		return nil, nil, err
	}
	return append(slices.Clip(leading), from), append(slices.Clip(leading), to), nil
}

// readLeading reads all parts of a text but the last, after the given values.
func (l *Layout) readLeading(arg, text string, parts []string, given []Value) ([]Value, error) {
	n := len(given)
	if n+len(parts) > len(l.Segments) {
		return nil, &OperandError{[]string{arg},
			fmt.Sprintf("%s: %.40q is %d values, and %s takes %d at most: %q inside of a value "+
				"is written %%%X", arg, text, len(parts), fieldList(l.Segments[n:]), len(l.Segments)-n, l.Sep[:1], l.Sep[0])}
	}
	vals := slices.Clip(slices.Clone(given))
	for i, part := range parts[:len(parts)-1] {
		s := l.Segments[n+i]
		first, last, err := l.readValue(arg, part, s)
		if err == nil && first != last {
			err = &OperandError{[]string{arg},
				fmt.Sprintf("%s: %.40q is a period, which only the last value can be: give %s whole",
					arg, part, s.Field)}
		}
		if err != nil {
			return nil, err
		}
		vals = append(vals, first)
	}
	return vals, nil
}

// exact is the layout in which numbers of operands have their key text: that of a half that is one number takes any
// number to compare with, as a fraction between two integers.
func (l Layout) exact() Layout {
	if l.isBare() && l.Segments[0].Kind == KindInt {
		s := l.Segments[0]
		s.Kind = KindDecimal
		l.Segments = []Segment{s}
	}
	return l
}
