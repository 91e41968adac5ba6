package encoding

import "time"

// AppendDateTime appends the instant as the API shows it: UTC, RFC 3339, at least three fraction digits.
func AppendDateTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = appendMillis(dst, t)
	dst = appendFiner(dst, t)
	return append(dst, 'Z')
}

// AppendKeyTime appends the instant as keys hold it: three fraction digits, the Z, then whatever digits are finer.
// Their last digit is never a zero, so an instant has one text, and a prefix of it is the earlier instant.
func AppendKeyTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = appendMillis(dst, t)
	dst = append(dst, 'Z')
	return appendFiner(dst, t)
}

// FromKeyTime returns the text of an instant, as RFC 3339 has it, where the text is one that AppendKeyTime wrote with
// finer digits after the Z. Any other text is returned as it is.
func FromKeyTime(text string) string {
	const millis = len("2024-01-15T10:30:00.123")
	if len(text) <= millis+1 || len(text) > millis+7 || text[millis] != 'Z' || text[len(text)-1] == '0' {
		return text
	}
	return text[:millis] + text[millis+1:] + "Z"
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

// InYears reports whether the instant has a text: its year in UTC has four digits.
func InYears(t time.Time) bool {
	year := t.UTC().Year()
	return 0 <= year && year <= 9999
}
