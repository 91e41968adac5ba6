package cloudevents

import (
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
)

// Append appends the event in the JSON format, on one line if its data is. Values that the event does not have are left
// out.
func Append(dst []byte, e *eventlog.Event) []byte {
	dst = append(dst, `{"specversion":"1.0"`...)
	dst = appendAttribute(dst, "id", e.ID)
	dst = appendAttribute(dst, "source", e.Source)
	dst = appendAttribute(dst, "type", e.Type)
	dst = appendAttribute(dst, "subject", e.Subject)
	if !e.Time.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = append(e.Time.UTC().AppendFormat(dst, time.RFC3339Nano), '"')
	}
	dst = appendAttribute(dst, "partitionkey", e.PartitionKey)
	dst = appendAttribute(dst, "dataschema", e.DataSchema)
	if len(e.Extensions) > 0 {
		for _, name := range slices.Sorted(maps.Keys(e.Extensions)) {
			dst = appendAttribute(dst, name, e.Extensions[name])
		}
	}
	if len(e.Data) > 0 {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, '}')
}

// AppendBatch appends the events as one JSON array.
func AppendBatch(dst []byte, events []eventlog.Event) []byte {
	dst = append(dst, '[')
	for i := range events {
		if i > 0 {
			dst = append(dst, ",\n"...)
		}
		dst = Append(dst, &events[i])
	}
	return append(dst, ']')
}

func appendAttribute(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = appendString(append(dst, ','), name)
	return appendString(append(dst, ':'), value)
}

// appendString appends a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		i++
	}
	return append(dst, '"')
}
