package encoding

import (
	"bytes"
	"math"
	"strconv"
)

// Padding is how many integer digits a number has in a key at least, where nothing else is said.
const Padding = 16

// Unpadded is the width of numbers that stand in a key as they are: they then sort as text.
const Unpadded = -1

// appendNumber appends the key text of a number in canonical decimal text, its integer part of width digits at least.
// Of 16 digits:
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
func appendNumber(dst, canonical []byte, width int) []byte {
	if width == Unpadded {
		return append(dst, canonical...)
	}
	if width == 0 {
		width = Padding
	}
	size, negative := bytes.CutPrefix(canonical, []byte{'-'})
	whole, fraction, _ := bytes.Cut(size, []byte{'.'})
	if negative {
		return appendNegative(dst, whole, fraction, width)
	}
	if len(whole) > width {
		dst = append(dst, ':')
		dst = appendPadded(dst, len(whole), 3)
	} else {
		dst = appendPadded(dst, 0, width-len(whole))
	}
	dst = append(dst, whole...)
	if len(fraction) > 0 {
		dst = append(dst, '.')
		dst = append(dst, fraction...)
	}
	return dst
}

func appendNegative(dst, whole, fraction []byte, width int) []byte {
	dst = append(dst, '-')
	if len(whole) > width {
		dst = append(dst, '!')
		dst = appendPadded(dst, 999-len(whole), 3)
	} else {
		for range width - len(whole) {
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

// AppendInt is appendNumber of an integer.
func AppendInt(dst []byte, n int64, width int) []byte {
	var buf [20]byte
	return appendNumber(dst, strconv.AppendInt(buf[:0], n, 10), width)
}

// AppendFloat is appendNumber of a finite float: of the shortest decimal text that reads back as it, which is a
// different one for each float and in the order of the floats.
func AppendFloat(dst []byte, f float64, width int) []byte {
	if f == 0 {
		f = 0 // the negative zero becomes the other one
	}
	if !isLong(f) {
		var buf [shortFloat]byte
		return appendNumber(dst, strconv.AppendFloat(buf[:0], f, 'f', -1, 64), width)
	}
	var buf [longFloat]byte
	return appendNumber(dst, strconv.AppendFloat(buf[:0], f, 'f', -1, 64), width)
}

// FloatRoom returns how many bytes the plain decimal text of a float has at most.
func FloatRoom(f float64) int {
	if isLong(f) {
		return longFloat
	}
	return shortFloat
}

// isLong reports whether the plain decimal text of a float may have more than shortFloat bytes.
func isLong(f float64) bool {
	size := math.Abs(f)
	return size >= 1e30 || size < 1e-9 && size > 0
}

// How long the plain decimal text of a float is at most: of most floats, and of any.
const (
	shortFloat = 32
	longFloat  = 2 + 323 + 17
)

// AppendDecimal is appendNumber of a decimal in canonical text.
func AppendDecimal(dst []byte, canonical string, width int) []byte {
	if len(canonical) > 64 {
		var buf [2*MaxDigits + 2]byte
		return appendNumber(dst, append(buf[:0], canonical...), width)
	}
	var buf [64]byte
	return appendNumber(dst, append(buf[:0], canonical...), width)
}
