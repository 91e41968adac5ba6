package keys

import (
	"fmt"
	"strings"
)

// Condition is what a query asks of the first key field that it does not give, in values of that field's kind. Absent
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
// There is one range, but for two cases, whose keys are no neighbours. In a half with MayBeTruncated, the row kept
// under the given composites alone comes before the rows under them. In lower case, a prefix whose last letter is a
// sigma has one range for those that end a word with it, and one for those that do not. Ranges are in the order of the
// keys.
func (l Layout) Select(given []Value, c Condition) ([]Range, error) {
	n := CountLeading(given)
	if err := checkGiven(l.Segments, given, n); err != nil {
		return nil, err
	}
	s := selection{&l, append(make([]Value, 0, 8), given[:n]...)}
	if err := c.check(s.next()); err != nil {
		return nil, err
	}
	switch {
	case c.Eq.Present():
		return s.with(c.Eq).all()
	case c.Prefix != nil:
		return s.beginning(*c.Prefix)
	case c.From.Present() || c.To.Present():
		return s.between(bound(s.given, c.From), bound(s.given, c.To))
	}
	return s.all()
}

// checkGiven reports more values than segments, and one that is given after the first n, behind an absent one.
func checkGiven(segments []Segment, given []Value, n int) error {
	if n > len(segments) {
		return &OperandError{nil, fmt.Sprintf("there are %d values for a key of %d fields", n, len(segments))}
	}
	for i := n; i < min(len(given), len(segments)); i++ {
		if given[i].Present() {
			args := []string{segments[n].Field, segments[i].Field}
			return &OperandError{args, fmt.Sprintf("%s is given without %s: give %s too", args[1], args[0], args[0])}
		}
	}
	return nil
}

// check reports what of the condition does not fit the next segment, which is nil where there is none.
func (c *Condition) check(next *Segment) error {
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
		if next != nil && next.Kind != kind {
			return wrongOperand(name, "%s is of kind %v, not %v", next.Field, next.Kind, kind)
		}
		return nil
	}
	for _, err := range []error{
		add(OperandEq, c.Eq.Present(), false, c.Eq.kind),
		add(OperandPrefix, c.Prefix != nil, false, prefixKind(next)),
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
	case groups > 0 && next == nil:
		return noneLeft(args)
	case (c.From.Present() || c.To.Present()) && next.Digits == Unpadded:
		return &OperandError{args, fmt.Sprintf("%s stands in the key without padding, so keys are not in its order: "+
			"give eq in place of %s", next.Field, strings.Join(args, " and "))}
	}
	return nil
}

// prefixKind is the kind of the segment where a prefix can be asked of it, else that of strings.
func prefixKind(s *Segment) Kind {
	if s != nil && (s.Kind == KindDate || s.Kind == KindDateTime) {
		return s.Kind
	}
	return KindString
}

// ParseCondition returns a condition on the n-th field with its text values read as values of the field's kind. A query
// takes text where the field is a date or a date-time, of which a part stands for its whole period, or could be one of
// several kinds. It fails with an *OperandError where the text is no value of the field.
func (l Layout) ParseCondition(n int, c Condition) (Condition, error) {
	if n >= len(l.Segments) || l.Segments[n].Kind == KindString {
		return c, nil
	}
	read := func(arg string, v Value) (first, last Value, err error) {
		if v.kind != KindString {
			return v, v, nil
		}
		return parseOperand(arg, v.text, &l.Segments[n])
	}
	eq, eqLast, err := read(OperandEq, c.Eq)
	if err != nil {
		return c, err
	}
	if c.Eq = eq; eq != eqLast {
		if c.From.Present() || c.To.Present() {
			return c, exclusive([]string{OperandEq, OperandFrom, OperandTo})
		}
		return Condition{From: eq, To: eqLast, Prefix: c.Prefix}, nil
	}
	if c.From, _, err = read(OperandFrom, c.From); err != nil {
		return c, err
	}
	_, c.To, err = read(OperandTo, c.To)
	return c, err
}
