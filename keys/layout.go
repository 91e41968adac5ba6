package keys

import (
	"fmt"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Key says where a row lives in its table: the partition it belongs to and its place in it.
// SK is empty where the table has no sort key.
type Key struct {
	PK string
	SK string
}

// SingletonPK is the reserved partition key of a model that has one row and no key fields.
const SingletonPK = "\x00"

// Sizes that a key may have at most, in bytes; they are DynamoDB's, held to by every driver so that all answer alike.
const (
	MaxPK = 2048
	MaxSK = 1024
)

// Layout says how one half of a key, its partition key or its sort key, is composed: literal text and the values of the
// composite attributes, in order, joined with Sep. It is data: [EntityKey] and [Template] make the layouts of their
// forms when code is generated, and the generated code holds them as literals. The zero Layout composes nothing: the
// half does not exist.
//
// A half of one segment and nothing else is the bare text of its value. In any other half, wherever the first byte of
// Sep, or a "%", stands in the text of a value, it is percent-escaped; so a separator is always where a value ends.
// Marks that the encoding adds to a number are no part of the value and stay as they are, because its order hangs on
// them. EscapeNone leaves values as they are, for tables that others write too; distinct values may then share a key.
//
// The text of a value that may have a fraction (Float, Decimal, and the digits of a date-time below the millisecond) is
// closed by "!" where the separator sorts above what a longer text goes on with: "0000000000000042!/" comes before
// "0000000000000042.5!/", as it should, although "/" comes after ".". Nothing is closed at the end of a half, and
// negative numbers close themselves.
type Layout struct {
	Head     string // literal text that every key begins with, without the separator after it
	Segments []Segment
	Tail     string // literal text that every whole key ends with, without the separator before it
	Sep      string
	Casing   Casing // of the values; literal text is in its casing already
	Escape   Escape
	// MayBeTruncated makes Select also look for keys of the leading composites alone, which partial writes store where
	// the others are absent. For writes, IndexHalf.NeverTruncate says whether they do.
	MayBeTruncated bool
}

// Segment is one composite attribute of a Layout.
type Segment struct {
	Field  string // the attribute's name in the model, for messages
	Kind   Kind
	Before string // literal text before the value: its name in the key, or whole literals, each with its separator
	Digits int    // how many integer digits a number has at least; 0 means 16, Unpadded means as many as it has
}

// Unpadded is the Digits of a segment whose numbers stand in the key as they are: they then sort as text.
const Unpadded = encoding.Unpadded

// Casing is the letter case of a key. The attribute that is stored beside the key keeps its own.
type Casing uint8

// The casings. They are Unicode's full ones, of no language: "ß" becomes "SS", "ΟΔΟΣ" becomes "οδος".
const (
	CasingNone Casing = iota
	CasingLower
	CasingUpper
)

// Apply returns s in the casing.
func (c Casing) Apply(s string) string { return encoding.Case(c).Text(s) }

// Escape says what becomes of a separator inside a value.
type Escape uint8

// The ways to write a separator, or a "%", inside a value.
const (
	EscapePercent Escape = iota // percent-escaped, so that distinct values have distinct keys
	EscapeNone                  // as it is, for tables that other programs write too
)

// Exists reports whether there is such a half at all.
func (l Layout) Exists() bool { return len(l.Segments) > 0 || l.Head != "" }

// isBare reports whether the half is the bare text of one value.
func (l *Layout) isBare() bool {
	return len(l.Segments) == 1 && l.Head == "" && l.Tail == "" && l.Segments[0].Before == ""
}

// isText reports whether a half is the bare text of one value of text, as it is.
func isText(l *Layout) bool {
	return l.Casing == CasingNone && l.isBare() && l.Segments[0].Kind == KindString
}

// CheckSep reports why sep cannot separate the values of a key: a separator begins with an ASCII character that is
// neither a letter nor a digit nor "%", because a value that holds it is written with those.
func CheckSep(sep string) error {
	if sep == "" {
		return fmt.Errorf("keys: the separator is empty: give one such as %q", "/")
	}
	c := sep[0]
	if c >= 0x80 || c == '%' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
		return fmt.Errorf("keys: the separator %q begins with a letter, a digit, %q or a character beyond ASCII: "+
			"give one such as %q", sep, "%", "/")
	}
	return nil
}

func (l *Layout) check(vals []Value) error {
	if len(vals) > len(l.Segments) {
		return fmt.Errorf("keys: %d values for a half of %d fields", len(vals), len(l.Segments))
	}
	for i := range vals {
		switch s := &l.Segments[i]; {
		case !vals[i].Present():
			return fmt.Errorf("keys: field %s has no value", s.Field)
		case vals[i].kind != s.Kind:
			return fmt.Errorf("keys: field %s is of kind %v, not %v", s.Field, s.Kind, vals[i].kind)
		}
	}
	if len(l.Segments) > 0 && !l.isBare() {
		return CheckSep(l.Sep)
	}
	return nil
}
