package record

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// appendString appends s as a JSON string. Where s is no UTF-8 it has no such form: notText is an error then.
func appendString(dst []byte, s string) (out []byte, notText error) {
	dst = append(dst, '"')
	plain := 0 // s[plain:i] is still to be appended, as it is
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[plain:i]...)
			dst = appendEscape(dst, c)
			i++
			plain = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return append(dst, '"'), fmt.Errorf("the text is no valid UTF-8 at byte %d: cut texts between characters", i)
		}
		i += size
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"'), nil
}

// appendEscape appends a character that no JSON string may hold as it is.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendFloat appends a float as encoding/json writes it: the shortest text that reads back as it, with an exponent
// where plain notation were long.
func appendFloat(dst []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		if n := len(dst); string(dst[n-4:n-1]) == "e-0" { // strconv's exponents have two digits at least
			dst = append(dst[:n-2], dst[n-1])
		}
		return dst
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// Unknown is the text of a field of which it is not known what it would be: the row was written under another schema.
// It is no JSON, and no row is stored with it. IsUnknown finds it.
const Unknown = "!"

// IsUnknown reports whether the text of a field is [Unknown].
func IsUnknown(text []byte) bool { return len(text) > 0 && text[0] == Unknown[0] }
