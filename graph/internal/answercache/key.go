package answercache

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// maxKey bounds keys, in bytes: larger variables are hardly asked for twice.
const maxKey = 4 << 10

// appendKey appends what tells the answer from all others; ok is false where a variable is of a type that is not known,
// or the key would be too large. All that it consists of has its length before it, or one that does not vary. Where the
// variables have a text it stands for them: most clients ask the same in the same form, and it need not be read.
func (q *question) appendKey(b []byte, epoch uint64) (key []byte, ok bool) {
	b = binary.BigEndian.AppendUint64(b, q.plan)
	b = binary.BigEndian.AppendUint64(b, epoch)
	b = appendBool(b, q.viewer.Unrestricted)
	if !q.viewer.Unrestricted {
		b = appendBool(b, q.viewer.Verified)
		b = appendText(b, q.viewer.Subject)
		b = binary.AppendUvarint(b, uint64(len(q.viewer.Groups)))
		for _, g := range q.viewer.Groups {
			b = appendText(b, g)
		}
	}
	if b = appendBool(b, q.text != nil); q.text != nil {
		return append(b, q.text...), len(q.text) <= maxKey
	}
	for _, d := range q.defined { // in the order of the operation, of which there is one plan
		v, given := q.variables[d.Variable]
		if b = appendBool(b, given); !given {
			continue
		}
		if b, ok = appendValue(b, v); !ok {
			return b, false
		}
	}
	return b, true
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendValue appends a value as coercion makes it, after a letter for its type.
func appendValue(b []byte, v any) (_ []byte, ok bool) {
	if text, is := v.(string); len(b) > maxKey || is && len(text) > maxKey {
		return b, false
	}
	switch v := v.(type) {
	case nil:
		return append(b, 'n'), true
	case bool:
		return appendBool(append(b, 'b'), v), true
	case string:
		return appendText(append(b, 's'), v), true
	case json.Number:
		return appendText(append(b, 'j'), v.String()), len(v) <= maxKey
	case int:
		return binary.AppendVarint(append(b, 'i'), int64(v)), true
	case int64:
		return binary.AppendVarint(append(b, 'i'), v), true
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v)), true
	case []any:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(v)))
		for _, e := range v {
			if b, ok = appendValue(b, e); !ok {
				return b, false
			}
		}
		return b, true
	case map[string]any:
		b = binary.AppendUvarint(append(b, 'm'), uint64(len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if b, ok = appendValue(appendText(b, name), v[name]); !ok {
				return b, false
			}
		}
		return b, true
	}
	return b, false
}
