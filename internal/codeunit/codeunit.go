// Package codeunit reads the escapes in which JSON writes code units of UTF-16.
package codeunit

// Size is the length of the escape of a code unit, such as \u00e9.
const Size = 6

// Read reads the escape of a code unit that the text begins with; ok is false where it begins with none.
func Read(text []byte) (unit rune, ok bool) {
	if len(text) < Size || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:Size] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}
