package keys

import (
	"fmt"
	"time"
)

// Date is a calendar date, "2024-01-15".
type Date string

// ParseDate reads a calendar date; it fails where s is not one ("2024-02-30").
func ParseDate(s string) (Date, error) {
	if !isDate(s) {
		return "", fmt.Errorf("keys: %q is not a calendar date like 2024-01-15", s)
	}
	return Date(s), nil
}

func isDate(s string) bool {
	var p clock
	return p.date(s) == len(s) && p.fields == 3
}

// ParseDateTime reads an RFC 3339 date-time of any offset with up to nine fraction digits and returns it in UTC. It
// fails for anything else, a leap second and years that UTC puts outside 0000 to 9999 among it.
func ParseDateTime(s string) (time.Time, error) {
	p, ok := parseClock(s)
	if !ok || !p.complete() {
		return time.Time{}, fmt.Errorf("keys: %q is not an RFC 3339 date-time like 2024-01-15T10:30:00.123Z", s)
	}
	t := p.start()
	if !inYears(t) {
		return time.Time{}, fmt.Errorf("keys: date-time %q is outside the years 0000 to 9999 in UTC", s)
	}
	return t, nil
}

// AppendDateTime appends the instant as the API shows it: UTC, RFC 3339, at least three fraction digits,
// "2024-01-15T10:30:00.123Z", "2024-01-15T10:30:00.123456Z". (In a key the finer digits follow the Z.)
func AppendDateTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = appendMillis(dst, t)
	dst = appendFiner(dst, t)
	return append(dst, 'Z')
}

// appendKeyTime appends the instant as keys hold it: three fraction digits, the Z, then whatever digits are finer. Their
// last digit is never a zero, so an instant has one text, and a prefix of it is the earlier instant.
func appendKeyTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = appendMillis(dst, t)
	dst = append(dst, 'Z')
	return appendFiner(dst, t)
}

// appendMillis appends "2024-01-15T10:30:00.123" of a time in UTC.
func appendMillis(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = appendPadded(dst, year, 4)
	dst = appendPadded(append(dst, '-'), int(month), 2)
	dst = appendPadded(append(dst, '-'), day, 2)
	dst = appendPadded(append(dst, 'T'), hour, 2)
	dst = appendPadded(append(dst, ':'), minute, 2)
	dst = appendPadded(append(dst, ':'), second, 2)
	return appendPadded(append(dst, '.'), t.Nanosecond()/1e6, 3)
}

// appendFiner appends the digits below the millisecond, without zeros at their end.
func appendFiner(dst []byte, t time.Time) []byte {
	n := t.Nanosecond() % 1e6
	if n == 0 {
		return dst
	}
	width := 6
	for n%10 == 0 {
		n /= 10
		width--
	}
	return appendPadded(dst, n, width)
}

// appendPadded appends the last width digits of n.
func appendPadded(dst []byte, n, width int) []byte {
	at := len(dst) + width
	for range width {
		dst = append(dst, '0')
	}
	for i := at - 1; n > 0 && i >= at-width; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// inYears reports whether the instant has a text: its year in UTC has four digits.
func inYears(t time.Time) bool {
	year := t.UTC().Year()
	return 0 <= year && year <= 9999
}
