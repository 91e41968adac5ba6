package encoding

import (
	"fmt"
	"strings"
)

// MaxDigits is how many digits a decimal may have before its point, and how many after it.
const MaxDigits = 999

// CanonicalDecimal reads decimal text ("12.50", "-3e2") into canonical form; it fails where s is not a number or has
// more than 999 integer or 999 fraction digits.
func CanonicalDecimal(s string) (string, error) {
	if isCanonical(s) {
		return s, nil
	}
	n, ok := scanNumber(s)
	if !ok {
		return "", fmt.Errorf("%.40q is not a decimal number like 12.50", s)
	}
	if n.digits == "" {
		return "0", nil
	}
	if n.point > MaxDigits || len(n.digits)-n.point > MaxDigits {
		return "", fmt.Errorf("decimal %.40q has more than %d digits before or after its point", s, MaxDigits)
	}
	return string(n.appendPlain(nil)), nil
}

// isCanonical reports whether s is the text that CanonicalDecimal would return for it.
func isCanonical(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, pointed := strings.Cut(digits, ".")
	switch {
	case whole == "" || len(whole) > MaxDigits || !allDigits(whole) || len(whole) > 1 && whole[0] == '0':
		return false
	case pointed:
		return fraction != "" && len(fraction) <= MaxDigits && allDigits(fraction) && fraction[len(fraction)-1] != '0'
	}
	return s != "-0"
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// number is 0.digits × 10^point, or its negative. digits neither begin nor end with a zero; zero has none.
type number struct {
	negative bool
	digits   string
	point    int
}

// scanNumber reads an optional minus, digits, an optional fraction and an optional exponent.
func scanNumber(s string) (n number, ok bool) {
	s, n.negative = strings.CutPrefix(s, "-")
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if exponent, ok = scanExponent(s[i+1:]); !ok {
			return n, false
		}
		s = s[:i]
	}
	whole, fraction, pointed := strings.Cut(s, ".")
	if whole == "" || !allDigits(whole) || pointed && fraction == "" || !allDigits(fraction) {
		return n, false
	}
	n.digits = strings.TrimRight(whole+fraction, "0")
	n.point = len(whole) + exponent
	for n.digits != "" && n.digits[0] == '0' {
		n.digits = n.digits[1:]
		n.point--
	}
	return n, true
}

// scanExponent reads a signed integer. One that is too large for any Decimal becomes one that is just too large,
// however many zeros the digits have to set against it.
func scanExponent(s string) (e int, ok bool) {
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if s == "" || !allDigits(s) {
		return 0, false
	}
	for i := range len(s) {
		e = min(e*10+int(s[i]-'0'), 1<<40)
	}
	if negative {
		e = -e
	}
	return e, true
}

// appendPlain appends the number in plain notation.
func (n number) appendPlain(dst []byte) []byte {
	if n.negative {
		dst = append(dst, '-')
	}
	if n.point <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, n.digits[:min(n.point, len(n.digits))]...)
		dst = appendPadded(dst, 0, max(0, n.point-len(n.digits)))
	}
	if n.point >= len(n.digits) {
		return dst
	}
	dst = append(dst, '.')
	dst = appendPadded(dst, 0, max(0, -n.point))
	return append(dst, n.digits[max(0, n.point):]...)
}
