package eventlog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// SameContent reports whether an event has the same content as the stored event with its source and ID: the attributes
// are equal, and the data are one JSON value however it is written. An event without a time is sent again without one,
// while the stored one got the time of its append.
func SameContent(again, stored *Event) bool {
	return again.Type == stored.Type &&
		again.Subject == stored.Subject &&
		(again.Time.IsZero() || again.Time.Equal(stored.Time)) &&
		again.PartitionKey == stored.PartitionKey &&
		again.DataSchema == stored.DataSchema &&
		maps.Equal(again.Extensions, stored.Extensions) &&
		sameJSON(again.Data, stored.Data)
}

// sameJSON compares texts first: whoever sends an event again mostly sends the same bytes.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := value(a)
	y, okY := value(b)
	return okX && okY && sameValue(x, y)
}

// sameValue compares two JSON values.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	}
	return a == b
}

func value(text []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}
