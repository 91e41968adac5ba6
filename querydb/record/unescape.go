package record

import (
	"bytes"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/foldql/foldql/internal/codeunit"
)

// unescape reads what stands between the quotes of a JSON string, as encoding/json does but for what is no UTF-8, which
// is no text.
func unescape(inner []byte) (s string, ok bool) {
	out := make([]byte, 0, len(inner)) // no escape is shorter than what it stands for
	for {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 {
			n = len(inner)
		}
		if !plain(inner[:n]) {
			return "", false
		}
		out, inner = append(out, inner[:n]...), inner[n:]
		if len(inner) == 0 {
			return view(out), true
		}
		r, size := escaped(inner)
		if size == 0 {
			return "", false
		}
		out, inner = utf8.AppendRune(out, r), inner[size:]
	}
}

// escaped reads the escape that the text begins with; its size is 0 where it is none. A surrogate that is not half of a
// pair is read as U+FFFD.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch c := text[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := codeunit.Read(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, codeunit.Size
	}
	if low, ok := codeunit.Read(text[codeunit.Size:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != unicode.ReplacementChar {
			return pair, 2 * codeunit.Size
		}
	}
	return unicode.ReplacementChar, codeunit.Size
}
