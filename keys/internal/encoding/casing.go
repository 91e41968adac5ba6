package encoding

import (
	"unicode"
	"unicode/utf8"
)

// Case is what letters become.
type Case uint8

// The cases. They are Unicode's full ones, of no language: "ß" becomes "SS", "ΟΔΟΣ" becomes "οδος".
const (
	AsIs Case = iota
	Lower
	Upper
)

// Text returns s in the case.
func (c Case) Text(s string) string {
	if c == AsIs {
		return s
	}
	return string(c.Append(nil, s))
}

// Beginnings returns what texts that begin with s begin with in the case, in order: two texts where the last letter of
// s is a sigma, which may end a word or go on with it.
func (c Case) Beginnings(s string) []string {
	ended, goesOn := c.Text(s), c.Text(s+"a")
	goesOn = goesOn[:len(goesOn)-len("a")]
	if ended == goesOn {
		return []string{ended}
	}
	return []string{ended, goesOn}
}

// Append appends s in the case. Bytes that are no UTF-8 stay as they are.
func (c Case) Append(dst []byte, s string) []byte {
	if c == AsIs {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, c.ascii(s[i]))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[i])
		} else {
			dst = c.appendRune(dst, r, s, i, i+size)
		}
		i += size
	}
	return dst
}

// appendRune appends the character r, which is s[from:to], in the case.
func (c Case) appendRune(dst []byte, r rune, s string, from, to int) []byte {
	if c == Upper {
		if special, ok := specialUpper[r]; ok {
			return append(dst, special...)
		}
		return utf8.AppendRune(dst, unicode.ToUpper(r))
	}
	switch {
	case r == dottedI:
		return append(dst, "i\u0307"...)
	case r == sigma && endsWord(s[:from], s[to:]):
		return utf8.AppendRune(dst, finalSigma)
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

const (
	dottedI    = '\u0130'
	sigma      = '\u03a3'
	finalSigma = '\u03c2'
)

// ascii returns the ASCII byte b in the case.
func (c Case) ascii(b byte) byte {
	switch {
	case c == Lower && 'A' <= b && b <= 'Z':
		return b + ('a' - 'A')
	case c == Upper && 'a' <= b && b <= 'z':
		return b - ('a' - 'A')
	}
	return b
}

// ASCII puts ASCII text into the case where it stands.
func (c Case) ASCII(text []byte) {
	if c == AsIs {
		return
	}
	for i, b := range text {
		text[i] = c.ascii(b)
	}
}

// endsWord reports whether a letter between the two texts is the last one of a word of more letters than it.
func endsWord(before, after string) bool {
	for {
		r, size := utf8.DecodeLastRuneInString(before)
		if size == 0 || !ignorable(r) {
			if size == 0 || !cased(r) {
				return false
			}
			break
		}
		before = before[:len(before)-size]
	}
	for _, r := range after {
		if !ignorable(r) {
			return !cased(r)
		}
	}
	return true
}

// cased reports whether a character is of some case.
func cased(r rune) bool {
	return unicode.IsLower(r) || unicode.IsUpper(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignorable reports whether a character may stand inside a word without being a letter of it: marks, modifiers, and
// the punctuation that joins.
func ignorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '^', '`', '\u00b7', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
