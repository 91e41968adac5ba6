package filter

import "encoding/binary"

func (c all) append(dst []byte) []byte { return appendParts(append(dst, '&'), c) }
func (c one) append(dst []byte) []byte { return appendParts(append(dst, '|'), c) }
func (c not) append(dst []byte) []byte { return c.condition.append(append(dst, '!')) }

func appendParts(dst []byte, parts []condition) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, part := range parts {
		dst = part.append(dst)
	}
	return dst
}

func (c *onField) append(dst []byte) []byte {
	dst = appendText(append(dst, '.'), c.field) // its ordinal may be another's after a change of the schema
	dst = appendText(dst, c.name)
	dst = binary.AppendUvarint(dst, uint64(len(c.values)))
	for _, v := range c.values {
		dst = appendText(dst, v.String())
	}
	return dst
}

// appendText writes a text, led by its length.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
