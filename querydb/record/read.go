package record

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/foldql/foldql/keys"
)

// The functions below turn the JSON text of a field back into its Go value. ok is false where the text is not of that
// type, as in a record of an older schema.

// String reads a string, ID or enum. It shares the record's memory where nothing in it is escaped.
func String(json []byte) (s string, ok bool) {
	if len(json) < 2 || json[0] != '"' || json[len(json)-1] != '"' {
		return "", false
	}
	inner := json[1 : len(json)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		return unescape(inner)
	}
	if !plain(inner) {
		return "", false
	}
	return view(inner), true
}

// Boolean reads a boolean.
func Boolean(json []byte) (v, ok bool) {
	switch string(json) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// Int reads an Int.
func Int(json []byte) (v int, ok bool) {
	n, ok := integer(json)
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, false
	}
	return int(n), ok
}

// Int64 reads an Int64.
func Int64(json []byte) (v int64, ok bool) {
	if len(json) < 2 || json[0] != '"' || json[len(json)-1] != '"' {
		return 0, false
	}
	return integer(json[1 : len(json)-1])
}

// Float reads a Float.
func Float(json []byte) (v float64, ok bool) {
	if !numeral(json) {
		return 0, false
	}
	v, err := strconv.ParseFloat(view(json), 64)
	if err != nil {
		return 0, false
	}
	return v, true
}

// DateTime reads a DateTime.
func DateTime(json []byte) (v time.Time, ok bool) {
	s, ok := String(json)
	if !ok {
		return time.Time{}, false
	}
	v, err := keys.ParseDateTime(s)
	return v, err == nil
}

// integer reads decimal digits with an optional minus.
func integer(text []byte) (int64, bool) {
	if len(text) == 0 || text[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(view(text), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

// numeral reports whether the text has the characters of a JSON number; what else ParseFloat would read ("Inf",
// "0x1p4", "1_000") has others.
func numeral(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(text) > 0 && text[0] != '+'
}

// plain reports whether the text stands for itself in a JSON string: UTF-8 without quotes and control characters.
func plain(text []byte) bool {
	for len(text) >= 8 && plainASCII(binary.LittleEndian.Uint64(text)) {
		text = text[8:]
	}
	ascii := byte(0)
	for _, c := range text {
		if c < ' ' || c == '"' {
			return false
		}
		ascii |= c
	}
	return ascii < utf8.RuneSelf || utf8.Valid(text)
}

// plainASCII reports whether all of eight bytes are ASCII characters that stand for themselves. It subtracts from each
// byte at once: only what is less than the subtrahend sets the highest bit of the difference.
func plainASCII(bytes uint64) bool {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	belowSpace := bytes - ' '*each
	isQuote := (bytes ^ '"'*each) - each // a quote becomes 0, which is less than 1
	return (bytes|belowSpace|isQuote)&highest == 0
}

// view returns the bytes as a string in the same memory; records never change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
