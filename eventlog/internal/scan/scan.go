// Package scan reads JSON text piece by piece: strict, without reflection and, but for strings with escapes, without
// allocation.
//
// Beyond RFC 8259 it refuses what would lose information on the way: invalid UTF-8, half a surrogate pair, a name given
// twice in an object, and values nested deeper than [MaxDepth].
package scan

import "fmt"

// MaxDepth is how many objects and arrays may stand inside one another.
const MaxDepth = 100

// Scanner is a place in a JSON text. Its methods skip white space before what they read. They are many because JSON has
// that many things to read, and all of them move the one position.
type Scanner struct {
	buf   []byte
	pos   int
	names [][]byte // of the objects that Skip is inside of
}

// Reset puts the scanner at the start of another text. What was returned before stays valid as long as the text does.
func (s *Scanner) Reset(text []byte) { s.buf, s.pos, s.names = text, 0, s.names[:0] }

// Error says what is wrong with the text, and where.
type Error struct {
	Offset int // bytes before the fault
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

func (s *Scanner) fail(at int, reason string) error { return &Error{Offset: at, Reason: reason} }

// unexpected is the error for a byte that cannot stand here.
func (s *Scanner) unexpected(want string) error {
	if s.pos >= len(s.buf) {
		return s.fail(s.pos, "want "+want+", got the end of the text")
	}
	return s.fail(s.pos, fmt.Sprintf("want %s, got %q", want, s.buf[s.pos]))
}

// Kind is what a JSON value is.
type Kind uint8

// The kinds of values; None is no value at all.
const (
	None Kind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "boolean", "number", "string", "list", "object"}

func (k Kind) String() string { return kindNames[k] }

// Kind tells by its first byte what the next value is; the rest may still be wrong.
func (s *Scanner) Kind() Kind {
	s.space()
	if s.pos >= len(s.buf) {
		return None
	}
	switch c := s.buf[s.pos]; {
	case c == '"':
		return String
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '-' || isDigit(c):
		return Number
	case c == 't' || c == 'f':
		return Boolean
	case c == 'n':
		return Null
	}
	return None
}

// Offset is how many bytes have been read.
func (s *Scanner) Offset() int { return s.pos }

// End fails where anything but white space follows.
func (s *Scanner) End() error {
	if s.space(); s.pos < len(s.buf) {
		return s.unexpected("the end of the text")
	}
	return nil
}

func (s *Scanner) space() {
	for s.pos < len(s.buf) {
		switch s.buf[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// take reads c where it is next.
func (s *Scanner) take(c byte) bool {
	s.space()
	if s.pos < len(s.buf) && s.buf[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
