package keys

import "encoding/binary"

// Cursor is where a page begins: after the row with this key. Index is the row's key in the index that is read, empty
// where the table itself is.
type Cursor struct {
	Key   Key
	Index Key
}

// AppendCursor appends the payload form of a Start.
func AppendCursor(dst []byte, s Cursor) []byte {
	for _, part := range [...]string{s.Key.PK, s.Key.SK, s.Index.PK, s.Index.SK} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// ParseCursor reads the payload form of a Start.
func ParseCursor(b []byte) (Cursor, error) {
	var s Cursor
	for _, part := range [...]*string{&s.Key.PK, &s.Key.SK, &s.Index.PK, &s.Index.SK} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Cursor{}, ErrInvalidToken
		}
		b = b[n:]
		*part, b = string(b[:size]), b[size:]
	}
	if len(b) > 0 {
		return Cursor{}, ErrInvalidToken
	}
	return s, nil
}
