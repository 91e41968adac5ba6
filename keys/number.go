package keys

import (
	"bytes"
	"strconv"
)

// padding is how many integer digits a number has in a key at least.
const padding = 16

// appendNumber appends the key text of a number in canonical decimal text.
//
//	42              0000000000000042
//	42.5            0000000000000042.5
//	10^17           :018100000000000000000
//	-42             -9999999999999957~
//	-42.5           -9999999999999957.4~
//	-10^17          -!981899999999999999999~
//
// Between non-negative numbers the texts compare as the numbers do: the integer parts have one length, or are led by it
// after a mark above every digit, and a fraction extends the text of its integer part. A negative number has the
// complement of every digit, so the larger one in size sorts first, and is closed by a mark above every digit and above
// the point: -42.5 comes before -42, as the closed text of a prefix comes after what extends it.
func appendNumber(dst, canonical []byte) []byte {
	size, negative := bytes.CutPrefix(canonical, []byte{'-'})
	whole, fraction, _ := bytes.Cut(size, []byte{'.'})
	if negative {
		return appendNegative(dst, whole, fraction)
	}
	if len(whole) > padding {
		dst = append(dst, ':')
		dst = appendPadded(dst, len(whole), 3)
	} else {
		dst = appendPadded(dst, 0, padding-len(whole))
	}
	dst = append(dst, whole...)
	if len(fraction) > 0 {
		dst = append(dst, '.')
		dst = append(dst, fraction...)
	}
	return dst
}

func appendNegative(dst []byte, whole, fraction []byte) []byte {
	dst = append(dst, '-')
	if len(whole) > padding {
		dst = append(dst, '!')
		dst = appendPadded(dst, 999-len(whole), 3)
	} else {
		for range padding - len(whole) {
			dst = append(dst, '9')
		}
	}
	dst = appendComplement(dst, whole)
	if len(fraction) > 0 {
		dst = append(dst, '.')
		dst = appendComplement(dst, fraction)
	}
	return append(dst, '~')
}

func appendComplement(dst, digits []byte) []byte {
	for i := range len(digits) {
		dst = append(dst, '0'+'9'-digits[i])
	}
	return dst
}

// appendInt is appendNumber of an integer.
func appendInt(dst []byte, n int64) []byte {
	var buf [20]byte
	return appendNumber(dst, strconv.AppendInt(buf[:0], n, 10))
}

// appendFloat is appendNumber of a finite float: of the shortest decimal text that reads back as it, which is a
// different one for each float and in the order of the floats.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		f = 0 // the negative zero becomes the other one
	}
	var buf [32]byte
	return appendNumber(dst, strconv.AppendFloat(buf[:0], f, 'f', -1, 64))
}

// appendDecimal is appendNumber of a Decimal.
func appendDecimal(dst []byte, d Decimal) []byte {
	var buf [64]byte
	return appendNumber(dst, append(buf[:0], d...))
}
