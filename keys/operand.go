package keys

import (
	"fmt"
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

// wrongOperand says what is wrong with one argument.
func wrongOperand(arg, format string, a ...any) error {
	return &OperandError{[]string{arg}, arg + ": " + fmt.Sprintf(format, a...)}
}

// operandError tells that a value of a query has no key text.
func operandError(err error) error {
	return &OperandError{nil, strings.TrimPrefix(err.Error(), "keys: ")}
}

// ParseOperands returns the range of keys that operands select: they are a condition on those values of this half that
// are not given; if none is given, on the whole half. eq, prefix and from/to exclude each other: two groups at once is
// an *OperandError that names them.
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
	if err := o.check(&l, given); err != nil {
		return Range{}, err
	}
	ranges, err := o.ranges(l.exact(), given)
	if err != nil {
		return Range{}, err
	}
	return ranges[0], nil // no half of a table of its own may be truncated or has a casing, so there is one
}

// ParseKey parses an argument, in the form of an eq operand, and returns the whole key that it stands for; arg names
// the argument in errors. The text of a period is an *OperandError.
func (l Layout) ParseKey(arg, text string) (string, error) {
	ranges, err := operandText{layout: l.exact(), arg: arg, text: text}.equal()
	if err != nil {
		return "", err
	}
	if ranges[0].Op != RangeEqual {
		return "", wrongOperand(arg, "%.40q is a period, and one whole key is needed", text)
	}
	return ranges[0].Lo, nil
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

// check reports groups of operands that exclude each other, or have no value to be about.
func (o Operands) check(l *Layout, given []Value) error {
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

// ranges returns the ranges of the rows that have the given values, and what the operands ask of those that follow.
func (o Operands) ranges(l Layout, given []Value) (ranges []Range, err error) {
	operand := func(arg string, text *string) operandText { return operandText{l, given, arg, *text} }
	rows := selection{&l, given}
	switch {
	case o.Eq != nil:
		return operand(OperandEq, o.Eq).equal()
	case o.Prefix != nil:
		return operand(OperandPrefix, o.Prefix).beginning()
	case o.From == nil && o.To == nil:
		return rows.all()
	}
	var from, to []Value
	if o.From != nil {
		if from, _, err = operand(OperandFrom, o.From).values(); err != nil {
			return nil, err
		}
	}
	if o.To != nil {
		if _, to, err = operand(OperandTo, o.To).values(); err != nil {
			return nil, err
		}
	}
	return rows.between(from, to)
}

func exclusive(args []string) error {
	return &OperandError{args, "the arguments " + strings.Join(args, " and ") +
		" exclude each other: give eq, or prefix, or from and to"}
}

func noneLeft(args []string) error {
	return &OperandError{args, "all fields of the sort key are given: there is none left for the argument " +
		strings.Join(args, " and ")}
}
