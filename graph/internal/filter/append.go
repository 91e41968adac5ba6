package filter

import (
	"encoding/binary"
	"slices"

	"github.com/foldql/foldql/internal/queryarg"
)

func (c all) append(dst []byte) []byte { return appendParts(dst, '&', c) }
func (c one) append(dst []byte) []byte { return appendParts(dst, '|', c) }
func (c not) append(dst []byte) []byte { return c.condition.append(append(dst, '!')) }

// appendParts writes the parts of a condition, whose order and repetition say nothing. One part alone says it all.
func appendParts(dst []byte, how byte, parts []condition) []byte {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = string(part.append(nil))
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) == 1 {
		return append(dst, texts[0]...)
	}
	dst = binary.AppendUvarint(append(dst, how), uint64(len(texts)))
	for _, text := range texts {
		dst = append(dst, text...)
	}
	return dst
}

func (c *onField) append(dst []byte) []byte {
	dst = appendText(append(dst, '.'), c.field.Name) // its ordinal may be another's after a change of the schema
	dst = appendText(dst, c.name)
	values := make([]string, len(c.values))
	for i, v := range c.values {
		values[i] = v.String()
	}
	if c.name == queryarg.FilterIn { // whose order says nothing
		slices.Sort(values)
		values = slices.Compact(values)
	}
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	for _, v := range values {
		dst = appendText(dst, v)
	}
	return dst
}

// appendText writes a text, led by its length.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
