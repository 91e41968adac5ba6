package keys

import (
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// parseOperand reads a value of a segment's kind from the text of an argument. first and last differ where it is a
// period.
func parseOperand(arg, text string, s *Segment) (first, last Value, err error) {
	first, last, ok := parseSpan(text, s)
	if !ok {
		return Value{}, Value{}, wrongOperand(arg, "%.40q is no value of %s: give %s", text, s.Field, s.Kind.example())
	}
	return first, last, nil
}

// parseSpan reads a value of a segment's kind, or a period of them.
func parseSpan(text string, s *Segment) (first, last Value, ok bool) {
	switch s.Kind {
	case KindDate:
		return parseDates(text)
	case KindDateTime:
		return parseTimes(text)
	}
	v, ok := parseValue(text, s)
	return v, v, ok
}

// parseValue reads a value of a segment's kind, of those kinds that have no periods.
func parseValue(text string, s *Segment) (v Value, ok bool) {
	switch s.Kind {
	case KindString:
		return String(text), true
	case KindBoolean:
		return Boolean(text == "true"), text == "true" || text == "false"
	}
	d, ok := parseNumber(text, s.Digits)
	if !ok || s.Kind == KindDecimal {
		return DecimalOf(d), ok
	}
	if s.Kind == KindInt {
		n, err := strconv.ParseInt(string(d), 10, 64)
		return Int(n), err == nil
	}
	f, err := strconv.ParseFloat(string(d), 64)
	return Float(f), err == nil
}

// parseNumber reads a number, as people write it or as a key of so many digits does.
func parseNumber(text string, digits int) (Decimal, bool) {
	if d, err := ParseDecimal(text); err == nil {
		return d, true
	}
	key := strings.TrimSuffix(text, string(closing))
	size, negative := strings.CutPrefix(key, "-")
	if negative {
		size = strings.Map(func(c rune) rune {
			if '0' <= c && c <= '9' {
				return '0' + '9' - c
			}
			return c
		}, strings.TrimSuffix(size, "~"))
	}
	if len(size) > 4 && (size[0] == ':' || size[0] == '!') { // the mark of a long one, and its length
		size = size[4:]
	}
	if negative {
		size = "-" + size
	}
	d, err := ParseDecimal(size)
	return d, err == nil && isKeyOf(d, key, digits)
}

// isKeyOf reports whether a text is what keys of so many digits write for a number.
func isKeyOf(d Decimal, key string, digits int) bool {
	return string(encoding.AppendDecimal(nil, string(d), digits)) == key
}

// parseDates reads a date, a month or a year.
func parseDates(text string) (first, last Value, ok bool) {
	c, ok := encoding.ParsePartialDate(text)
	if !ok {
		return Value{}, Value{}, false
	}
	date := func(t time.Time) Value { return DateOf(Date(t.Format(time.DateOnly))) }
	return date(c.Start()), date(c.End().Add(-time.Nanosecond)), true
}

// parseTimes reads a date-time of any offset, or a part of one.
func parseTimes(text string) (first, last Value, ok bool) {
	c, ok := encoding.ParseTime(encoding.FromKeyTime(strings.TrimSuffix(text, string(closing))))
	if !ok {
		return Value{}, Value{}, false
	}
	from, to := span(c)
	return DateTime(from), DateTime(to), encoding.InYears(from) && encoding.InYears(to)
}

func isClock(text string) bool {
	_, ok := encoding.ParseTime(text)
	return ok
}

// span returns the first and the last instant meant, in UTC.
func span(c encoding.PartialTime) (first, last time.Time) {
	first, last = c.Start(), c.Start()
	if !c.Complete() {
		last = c.End().Add(-time.Nanosecond)
	}
	return first, last
}

// mayBegin reports whether texts of dates or date-times, as keys write them, may begin so.
func (k Kind) mayBegin(text string) bool {
	form := "0000-00-00"
	if k == KindDateTime {
		form = "0000-00-00T00:00:00.000Z000000"
	}
	if len(text) > len(form) {
		return false
	}
	for i := range len(text) {
		if form[i] == '0' && !encoding.DigitAt(text, i) || form[i] != '0' && form[i] != text[i]&^0x20 && form[i] != text[i] {
			return false
		}
	}
	return true
}

// example says what a value of the kind is, for somebody who wrote something else.
func (k Kind) example() string {
	switch k {
	case KindBoolean:
		return "true or false"
	case KindInt:
		return "a whole number of 64 bits, such as 42"
	case KindFloat, KindDecimal:
		return "a number such as 12.5, of not too many digits"
	case KindDate:
		return "a date such as 2024-01-15, or a part of one such as 2024-01"
	case KindDateTime:
		return "a date-time such as 2024-01-15T10:30:00Z, or a part of one such as 2024-01-15"
	}
	return "a " + k.String()
}
