package eventlog

import (
	"strconv"
	"strings"
)

// decimal is what a JSON number says: digits × 10^exponent. However it is written, a number has one decimal.
type decimal struct {
	negative bool
	digits   string // without zeros at either end, "" for 0
	exponent int64
}

// longestExponent is how many digits an exponent may have, so that sums with it fit.
const longestExponent = 18

// decimalOf reads a JSON number. It makes no number of it, which could have as many digits as the exponent says; ok is
// false where the exponent itself is out of bounds.
func decimalOf(number string) (d decimal, ok bool) {
	number, d.negative = strings.CutPrefix(number, "-")
	number, power := cutExponent(number)
	whole, fraction, _ := strings.Cut(number, ".")
	digits := whole + fraction
	d.digits = strings.TrimRight(digits, "0")
	d.exponent = int64(len(digits) - len(d.digits) - len(fraction))
	d.digits = strings.TrimLeft(d.digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	if len(strings.TrimLeft(power, "+-0")) > longestExponent {
		return decimal{}, false
	}
	if power != "" {
		by, err := strconv.ParseInt(power, 10, 64)
		if err != nil {
			return decimal{}, false
		}
		d.exponent += by
	}
	return d, true
}

// cutExponent parts a number from its exponent, "" where it has none.
func cutExponent(number string) (rest, exponent string) {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i], number[i+1:]
	}
	return number, ""
}

// sameNumber reports whether two JSON numbers are equal. Those with an exponent out of bounds are where they are
// written alike.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := decimalOf(a)
	y, okY := decimalOf(b)
	return okX && okY && x == y
}
