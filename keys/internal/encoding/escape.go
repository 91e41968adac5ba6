package encoding

import "slices"

// Escape percent-escapes sep and "%" in dst[start:], the text of a value, which may be a number.
func Escape(dst []byte, start int, sep byte, number bool) []byte {
	n := 0
	for _, c := range dst[start:] {
		if escapes(c, sep, number) {
			n++
		}
	}
	if n == 0 {
		return dst
	}
	from := len(dst) - 1
	dst = slices.Grow(dst, 2*n)[:len(dst)+2*n]
	// From the end backwards every byte moves to where nothing is still to be read.
	for to := len(dst) - 1; from >= start; from-- {
		c := dst[from]
		if escapes(c, sep, number) {
			dst[to-2], dst[to-1], dst[to] = '%', hex[c>>4], hex[c&15]
			to -= 3
			continue
		}
		dst[to] = c
		to--
	}
	return dst
}

const hex = "0123456789ABCDEF"

// escapes reports whether the byte c of a value is escaped. Of a number these are its sign and its point; the marks
// that say how long it is and where it ends are not the value's own.
func escapes(c, sep byte, number bool) bool {
	if c != sep && c != '%' {
		return false
	}
	return !number || c == '-' || c == '.'
}
