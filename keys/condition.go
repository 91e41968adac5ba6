package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Condition is what a query asks of the first composite that it does not give, in the composite's own kind. Absent
// values are not given; all that is not given asks nothing. Bounds are inclusive, and each covers all that lies under
// its value.
type Condition struct {
	Eq, From, To Value
	Prefix       *string // of a string, a date or a date-time; a part of a date-time is its period
}

// Select returns the sort keys of the rows that have the given leading composites and, under the next one, meet the
// condition. Composites are given up to the first absent value; one after it is an *OperandError, as are conditions
// that exclude each other, that have no composite to apply to, or that are of another kind than it.
//
// The composites given are closed by the separator where more follow, so "Done" never selects "Done_archived". A bound
// on one side alone is clamped to the composites given: a range is one condition on the sort key. Of strings that
// others follow, bounds compare the text of the key, separator included.
//
// There is one range, but for two cases, whose keys are no neighbours. In a half that Truncates, the row kept under the
// given composites alone comes before the rows under them. In lower case, a prefix whose last letter is a sigma has one
// range for those that end a word with it, and one for those that do not. Ranges are in the order of the keys.
func (l Layout) Select(given []Value, c Condition) ([]Range, error) {
	n := CountLeading(given)
	if err := l.checkGiven(given, n); err != nil {
		return nil, err
	}
	if err := c.check(&l, n); err != nil {
		return nil, err
	}
	vals := append(make([]Value, 0, 8), given[:n]...)
	switch {
	case c.Eq.Present():
		return l.under(append(vals, c.Eq))
	case c.Prefix != nil:
		return l.begins(vals, *c.Prefix)
	case c.From.Present() || c.To.Present():
		bound := func(v Value) []Value {
			if !v.Present() {
				return nil
			}
			return append(slices.Clip(vals), v)
		}
		return l.between(vals, bound(c.From), bound(c.To))
	}
	return l.under(vals)
}

// under returns the ranges of the rows that have the leading values.
func (l *Layout) under(vals []Value) ([]Range, error) {
	closed, err := l.Compose(vals...)
	switch {
	case err != nil:
		return nil, operandError(err)
	case len(vals) == len(l.Segments):
		return []Range{{Op: RangeEqual, Lo: closed}}, nil
	case closed == "":
		return []Range{{}}, nil
	case !l.Truncates || len(vals) == 0:
		return []Range{{Op: RangePrefix, Lo: closed}}, nil
	}
	own, err := l.ComposeTruncated(vals...)
	if err != nil {
		return nil, operandError(err)
	}
	return []Range{{Op: RangeEqual, Lo: own}, {Op: RangePrefix, Lo: closed}}, nil
}

// begins returns the ranges of the rows whose next string, date or date-time begins with text.
func (l *Layout) begins(vals []Value, text string) ([]Range, error) {
	switch s := l.Segments[len(vals)]; {
	case text == "" || s.Kind != KindDate && s.Kind != KindDateTime:
	case s.Kind == KindDateTime && isClock(text):
		return l.beginsTime(vals, text)
	case !s.Kind.mayBegin(text):
		return nil, &OperandError{[]string{OperandPrefix}, fmt.Sprintf("prefix: no %v begins with %.40q", s.Kind, text)}
	default:
		text = strings.ToUpper(text)
	}
	closed, err := l.Compose(vals...)
	if err != nil {
		return nil, operandError(err)
	}
	_, name := l.cutBefore(len(vals))
	start := len(closed) + len(name)
	if start+len(text) == 0 {
		return []Range{{}}, nil
	}
	var ranges []Range
	for _, beginning := range encoding.Case(l.Casing).Beginnings(text) {
		key := []byte(closed + name + beginning)
		if l.Escape == EscapePercent && !l.isBare() {
			key = encoding.Escape(key, start, l.Sep[0], false)
		}
		ranges = append(ranges, Range{Op: RangePrefix, Lo: string(key)})
	}
	return ranges, nil
}

// beginsTime returns the range of the rows whose next date-time is of the period that a part of one stands for. A whole
// one begins those that are finer.
func (l *Layout) beginsTime(vals []Value, text string) ([]Range, error) {
	first, last, ok := parseTimes(text)
	if !ok {
		return nil, &OperandError{[]string{OperandPrefix}, fmt.Sprintf("prefix: %.40q is outside the years 0000 to 9999",
			text)}
	}
	if c, _ := encoding.ParseTime(text); c.Complete() {
		lo, err := l.ComposeTruncated(append(slices.Clip(vals), first)...)
		if err != nil {
			return nil, operandError(err)
		}
		return []Range{{Op: RangePrefix, Lo: lo}}, nil
	}
	return l.between(vals, append(slices.Clip(vals), first), append(slices.Clip(vals), last))
}

// between returns the range between two inclusive bounds, of which one may be nil. Each is the values given and some
// that follow them, and covers all that lies under it.
func (l *Layout) between(given, from, to []Value) ([]Range, error) {
	least, err := l.Compose(given...)
	if err != nil {
		return nil, operandError(err)
	}
	r := Range{Op: RangeBetween, Lo: least, Hi: least + last}
	if from != nil {
		if r.Lo, err = l.ComposeTruncated(from...); err != nil {
			return nil, operandError(err)
		}
	}
	if to != nil {
		if r.Hi, err = l.Compose(to...); err != nil {
			return nil, operandError(err)
		}
		if len(to) < len(l.Segments) {
			r.Hi += last
		}
	}
	switch {
	case r.Lo == r.Hi:
		return []Range{{Op: RangeEqual, Lo: r.Lo}}, nil
	case least == "" && to == nil:
		return []Range{{Op: RangeAtLeast, Lo: r.Lo}}, nil
	case least == "" && from == nil:
		return []Range{{Op: RangeAtMost, Lo: r.Hi}}, nil
	}
	return []Range{r}, nil
}

// last sorts above every text that follows a separator: no text begins with it, for it is no character.
const last = "\U0010FFFF"

func (l *Layout) checkGiven(given []Value, n int) error {
	if n > len(l.Segments) {
		return &OperandError{nil, fmt.Sprintf("there are %d values for a key of %d fields", n, len(l.Segments))}
	}
	for i := n; i < min(len(given), len(l.Segments)); i++ {
		if given[i].Present() {
			args := []string{l.Segments[n].Field, l.Segments[i].Field}
			return &OperandError{args, fmt.Sprintf("%s is given without %s: give %s too", args[1], args[0], args[0])}
		}
	}
	return nil
}

// check reports what of the condition does not fit the composite of ordinal n.
func (c *Condition) check(l *Layout, n int) error {
	var args []string
	groups := 0
	add := func(name string, given, sameGroup bool, kind Kind) error {
		if !given {
			return nil
		}
		if !sameGroup {
			groups++
		}
		args = append(args, name)
		if n < len(l.Segments) && l.Segments[n].Kind != kind {
			return &OperandError{[]string{name}, fmt.Sprintf("%s: %s is of kind %v, not %v", name, l.Segments[n].Field,
				l.Segments[n].Kind, kind)}
		}
		return nil
	}
	for _, err := range []error{
		add(OperandEq, c.Eq.Present(), false, c.Eq.kind),
		add(OperandPrefix, c.Prefix != nil, false, l.prefixed(n)),
		add(OperandFrom, c.From.Present(), false, c.From.kind),
		add(OperandTo, c.To.Present(), c.From.Present(), c.To.kind),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case groups > 1:
		return exclusive(args)
	case (c.From.Present() || c.To.Present()) && n < len(l.Segments) && l.Segments[n].Digits == Unpadded:
		return &OperandError{args, fmt.Sprintf("%s stands in the key without padding, so keys are not in its order: give eq "+
			"in place of %s",
			l.Segments[n].Field, strings.Join(args, " and "))}
	case groups > 0 && n == len(l.Segments):
		return noneLeft(args)
	}
	return nil
}

// prefixed is the kind of the composite of ordinal n where a prefix can be asked of it, else that of strings.
func (l *Layout) prefixed(n int) Kind {
	if n < len(l.Segments) && (l.Segments[n].Kind == KindDate || l.Segments[n].Kind == KindDateTime) {
		return l.Segments[n].Kind
	}
	return KindString
}

// operandError tells that a value of a query has no key text.
func operandError(err error) error {
	return &OperandError{nil, strings.TrimPrefix(err.Error(), "keys: ")}
}
