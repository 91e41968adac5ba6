package keys

import "encoding/binary"

// Start is where a page begins: after the row with this key. Index is the row's key in the index that is read, empty
// where the table itself is.
type Start struct {
	Key   Key
	Index Key
}

// AppendStart appends the payload form of a Start.
func AppendStart(dst []byte, s Start) []byte {
	for _, part := range [...]string{s.Key.PK, s.Key.SK, s.Index.PK, s.Index.SK} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// ParseStart reads the payload form of a Start.
func ParseStart(b []byte) (Start, error) {
	var s Start
	for _, part := range [...]*string{&s.Key.PK, &s.Key.SK, &s.Index.PK, &s.Index.SK} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Start{}, ErrToken
		}
		b = b[n:]
		*part, b = string(b[:size]), b[size:]
	}
	if len(b) > 0 {
		return Start{}, ErrToken
	}
	return s, nil
}
