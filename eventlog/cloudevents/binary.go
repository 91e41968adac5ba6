package cloudevents

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
)

// IsBinary reports whether the headers are those of an event in the binary mode.
func IsBinary(h http.Header) bool {
	return len(h["Ce-Id"])+len(h["Ce-Specversion"])+len(h["Ce-Type"]) > 0
}

// DecodeBinary reads one event in the binary mode of HTTP: the attributes are in ce- headers, percent-encoded, the body
// is the data. Data shares the memory of the body; an error is an *Error. Beside an error the event has its identity
// (id, source, type, subject) as far as it can be read.
func (d Decoder) DecodeBinary(h http.Header, body []byte) (eventlog.Event, error) {
	var e draft
	bad := e.headers(h)
	if bad == nil {
		var event eventlog.Event
		if event, bad = d.complete(&e, body); bad == nil {
			return event, nil
		}
	}
	identifyHeaders(&e.event, h)
	bad.ID = cut(e.event.ID)
	return e.event, bad
}

// headers reads the attributes, in the order of their names so that the same request always gets the same error.
func (d *draft) headers(h http.Header) *Error {
	for _, header := range slices.Sorted(maps.Keys(h)) {
		values := h[header]
		name, isAttribute := strings.CutPrefix(strings.ToLower(header), "ce-")
		switch {
		case header == "Content-Type":
			name = "datacontenttype"
		case !isAttribute:
			continue
		case name == "data" || name == "datacontenttype":
			return wrong(name, "must not be a header of its own in the binary mode")
		}
		if len(values) != 1 {
			return wrong(cut(name), "given twice")
		}
		value, ok := headerText(values[0])
		if !ok {
			return wrong(cut(name), "the header is not percent-encoded UTF-8")
		}
		if bad := d.set(memberOf([]byte(name)), []byte(value)); bad != nil {
			return bad
		}
	}
	return nil
}

// size is how many bytes the attributes have.
func (d *draft) size() int { return attributeBytes(&d.event) }

func attributeBytes(e *eventlog.Event) int {
	n := len(e.ID) + len(e.Source) + len(e.Type) + len(e.Subject) + len(e.PartitionKey) + len(e.DataSchema)
	for name, value := range e.Extensions {
		n += len(name) + len(value)
	}
	return n
}

// headerText decodes the value of a header: a quoted string loses its quotes, %XX stands for a byte, and the bytes must
// be UTF-8.
func headerText(v string) (string, bool) {
	v = strings.TrimSpace(v)
	if len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"' {
		v = unquote(v[1 : len(v)-1])
	}
	if !strings.Contains(v, "%") {
		return v, utf8.ValidString(v)
	}
	text := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c == '%' {
			high, low := hexDigit(v, i+1), hexDigit(v, i+2)
			if high < 0 || low < 0 {
				return "", false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		text = append(text, c)
	}
	return string(text), utf8.Valid(text)
}

// unquote takes the backslashes out of a quoted string of HTTP.
func unquote(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			i++
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// hexDigit returns the value of the hexadecimal digit at i, -1 where there is none.
func hexDigit(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	switch c := s[i]; {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
