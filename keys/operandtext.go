package keys

import (
	"slices"
	"strconv"
	"strings"
)

// operandText is the text of one operand: values in order, joined with the separator, of the fields that follow those
// given.
type operandText struct {
	layout Layout
	given  []Value
	arg    string // its name, for errors
	text   string
}

// equal returns the range of the rows that have all values that the text stands for.
func (o operandText) equal() ([]Range, error) {
	first, last, err := o.values()
	if err != nil {
		return nil, err
	}
	if left := o.left(); len(first) < len(o.layout.Segments) {
		return nil, wrongOperand(o.arg, "%.40q is not all of %s: write it as %s", o.text, fieldList(left),
			form(left, o.layout.Sep))
	}
	return selection{&o.layout, o.given}.between(first, last)
}

// beginning returns the ranges of the rows whose values, after the given ones, begin with the text.
func (o operandText) beginning() ([]Range, error) {
	given, prefix, err := o.prefix()
	switch s := (selection{&o.layout, given}); {
	case err != nil:
		return nil, err
	case prefix == nil:
		return s.all()
	default:
		return s.beginning(*prefix)
	}
}

// prefix reads the text as values, the given ones included, and the beginning of the next one, where there is any.
func (o operandText) prefix() (given []Value, beginning *string, err error) {
	parts := o.split()
	leading, err := o.leading(parts)
	if err != nil {
		return nil, nil, err
	}
	final := parts[len(parts)-1]
	if final == "" {
		return leading, nil, nil
	}
	next := selection{&o.layout, leading}.next()
	switch next.Kind {
	case KindString, KindDate, KindDateTime:
		final, err = o.unescape(final)
		return leading, &final, err
	}
	v, _, err := o.value(final, next)
	return bound(leading, v), nil, err
}

// values reads the text. first and last, the given values included, differ in the last value where that is a period.
func (o operandText) values() (first, last []Value, err error) {
	parts := o.split()
	leading, err := o.leading(parts)
	if err != nil {
		return nil, nil, err
	}
	s, final := &o.layout.Segments[len(leading)], parts[len(parts)-1]
	if final == "" && s.Kind != KindString && len(parts) > 1 {
		return leading, leading, nil // a separator that nothing follows
	}
	from, to, err := o.value(final, s)
	if err != nil {
		return nil, nil, err
	}
	return bound(leading, from), bound(leading, to), nil
}

// split cuts the text into those of its values.
func (o operandText) split() (parts []string) {
	switch {
	case o.layout.isBare():
		return []string{o.text}
	case !strings.ContainsRune(numberMarks, rune(o.layout.Sep[0])):
		return strings.Split(o.text, o.layout.Sep)
	}
	for rest, more := o.text, true; more; {
		number, after, separated, is := o.cutNumber(len(parts), rest)
		if !is {
			number, after, separated = strings.Cut(rest, o.layout.Sep)
		}
		parts = append(parts, number)
		rest, more = after, separated
	}
	return parts
}

// numberMarks are what keys write beside the digits of a number, with which a separator can begin too.
const numberMarks = "~:!"

// cutNumber cuts the text after the value at a place, where that is a number as keys write it: its marks are not taken
// for separators.
func (o operandText) cutNumber(place int, text string) (number, after string, separated, is bool) {
	left, sep := o.left(), o.layout.Sep
	if place >= len(left) || !left[place].Kind.isNumber() {
		return "", "", false, false
	}
	tried := 0
	for end := 0; end <= len(text) && tried < maxMarks; end++ {
		after, separated := strings.CutPrefix(text[end:], sep)
		if !separated && after != "" {
			continue
		}
		if o.isKeyNumber(text[:end], &left[place]) {
			return text[:end], after, separated, true
		}
		tried++
	}
	return "", "", false, false
}

// maxMarks is more than the times that a number in a key has one of the marks.
const maxMarks = 3

// isKeyNumber reports whether a text is a number as keys write it.
func (o operandText) isKeyNumber(text string, s *Segment) bool {
	plain, err := o.unescape(text)
	if err != nil {
		return false
	}
	d, ok := parseNumber(plain, s.Digits)
	return ok && isKeyOf(d, strings.TrimSuffix(plain, string(closing)), s.Digits)
}

// left are the segments whose values are not given.
func (o operandText) left() []Segment { return o.layout.Segments[len(o.given):] }

// leading reads all parts but the last, and returns them after the given values.
func (o operandText) leading(parts []string) ([]Value, error) {
	left := o.left()
	if len(parts) > len(left) {
		sep := o.layout.Sep
		return nil, wrongOperand(o.arg, "%.40q is %d values, and %s takes %d at most: %q inside of a value is written %%%X",
			o.text, len(parts), fieldList(left), len(left), sep[:1], sep[0])
	}
	vals := slices.Clip(slices.Clone(o.given))
	for i, part := range parts[:len(parts)-1] {
		first, last, err := o.value(part, &left[i])
		if err != nil {
			return nil, err
		}
		if first != last {
			return nil, wrongOperand(o.arg, "%.40q is a period, which only the last value can be: give %s whole", part,
				left[i].Field)
		}
		vals = append(vals, first)
	}
	return vals, nil
}

// value reads the text of one value, as keys escape it. first and last differ where it is a period.
func (o operandText) value(text string, s *Segment) (first, last Value, err error) {
	if text, err = o.unescape(text); err != nil {
		return Value{}, Value{}, err
	}
	return parseOperand(o.arg, text, s)
}

// unescape reads a separator and "%" inside of a value as keys write them. Any other use of "%" is in no key.
func (o operandText) unescape(text string) (string, error) {
	l := &o.layout
	if l.isBare() || l.Escape == EscapeNone || !strings.Contains(text, "%") {
		return text, nil
	}
	pieces := strings.Split(text, "%")
	for i, piece := range pieces[1:] {
		code := uint64(0)
		if len(piece) >= 2 {
			code, _ = strconv.ParseUint(piece[:2], 16, 8)
		}
		if code != '%' && code != uint64(l.Sep[0]) {
			return "", wrongOperand(o.arg, "%.40q has a %% that begins neither %%25 nor %%%02X: "+
				"a %% inside of a value is written %%25, and %q is %%%02X", text, l.Sep[0], l.Sep[:1], l.Sep[0])
		}
		pieces[i+1] = string(rune(code)) + piece[2:]
	}
	return strings.Join(pieces, ""), nil
}

// form shows how the text of an operand on the fields is written.
func form(segments []Segment, sep string) string {
	var names []string
	for _, s := range segments {
		names = append(names, "<"+s.Field+">")
	}
	return strings.Join(names, sep)
}

func fieldList(segments []Segment) string {
	var names []string
	for _, s := range segments {
		names = append(names, s.Field)
	}
	return strings.Join(names, " and ")
}
