package scan

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/foldql/foldql/internal/codeunit"
)

// Text reads a string and returns what it says. The bytes belong to the text that is scanned unless there were escapes.
func (s *Scanner) Text() ([]byte, error) {
	if !s.take('"') {
		return nil, s.unexpected("a string")
	}
	start, ascii := s.pos, true
	for ; s.pos < len(s.buf); s.pos++ {
		switch c := s.buf[s.pos]; {
		case c == '"':
			text := s.buf[start:s.pos]
			if !ascii && !utf8.Valid(text) {
				return nil, s.fail(start, "invalid UTF-8 in the string")
			}
			s.pos++
			return text, nil
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			return nil, s.fail(s.pos, "an unescaped control character in the string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, s.fail(start, "the string has no end")
}

// escaped reads the rest of a string whose first escape is next into a new slice.
func (s *Scanner) escaped(start int) ([]byte, error) {
	text := append(make([]byte, 0, 2*(s.pos-start)+32), s.buf[start:s.pos]...)
	for s.pos < len(s.buf) {
		c := s.buf[s.pos]
		switch {
		case c == '"':
			s.pos++
			if !utf8.Valid(text) {
				return nil, s.fail(start, "invalid UTF-8 in the string")
			}
			return text, nil
		case c < ' ':
			return nil, s.fail(s.pos, "an unescaped control character in the string")
		case c != '\\':
			text = append(text, c)
			s.pos++
			continue
		}
		var err error
		if text, err = s.escape(text); err != nil {
			return nil, err
		}
	}
	return nil, s.fail(start, "the string has no end")
}

// plain maps the letter of a two-character escape to what it stands for.
var plain = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape appends what the escape that is next stands for.
func (s *Scanner) escape(text []byte) ([]byte, error) {
	at := s.pos
	if at+1 < len(s.buf) {
		if c := plain[s.buf[at+1]]; c != 0 {
			s.pos += 2
			return append(text, c), nil
		}
	}
	r, ok := codeunit.Read(s.buf[at:])
	if !ok {
		return nil, s.fail(at, "an escape that JSON does not have")
	}
	s.pos = at + codeunit.Size
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(text, r), nil
	}
	low, ok := codeunit.Read(s.buf[s.pos:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return nil, s.fail(at, "half a surrogate pair")
	}
	s.pos += codeunit.Size
	return utf8.AppendRune(text, r), nil
}

// Digits reads a number and returns it as it is written.
func (s *Scanner) Digits() ([]byte, error) {
	s.space()
	start := s.pos
	if s.pos < len(s.buf) && s.buf[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.buf) && s.buf[s.pos] == '0' {
		s.pos++
	} else if !s.run() {
		return nil, s.unexpected("a digit")
	}
	if s.pos < len(s.buf) && s.buf[s.pos] == '.' {
		if s.pos++; !s.run() {
			return nil, s.unexpected("a digit")
		}
	}
	if s.pos < len(s.buf) && s.buf[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.buf) && (s.buf[s.pos] == '+' || s.buf[s.pos] == '-') {
			s.pos++
		}
		if !s.run() {
			return nil, s.unexpected("a digit")
		}
	}
	return s.buf[start:s.pos], nil
}

// run reads digits and reports whether there was one.
func (s *Scanner) run() bool {
	start := s.pos
	for s.pos < len(s.buf) && isDigit(s.buf[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

// Bool reads true or false.
func (s *Scanner) Bool() (bool, error) {
	if s.word("true") {
		return true, nil
	}
	if s.word("false") {
		return false, nil
	}
	return false, s.unexpected("true or false")
}

// Null reads null.
func (s *Scanner) Null() error {
	if !s.word("null") {
		return s.unexpected("null")
	}
	return nil
}

func (s *Scanner) word(w string) bool {
	s.space()
	if len(s.buf)-s.pos < len(w) || string(s.buf[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}
