package aggregate

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// digestOf is the digest of the items beside the root, in the order of their keys.
func digestOf(members []driver.Row) string {
	var text []byte
	for i := range members {
		text = appendItem(text, &members[i])
	}
	return string(appendDigest(nil, text))
}

// appendItem appends what the digest is of.
func appendItem(text []byte, item *driver.Row) []byte {
	text = append(append(text, item.Key.SK...), 0)
	return append(text, item.Record...)
}

func appendDigest(b, text []byte) []byte {
	var sum [8]byte
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64(text))
	return hex.AppendEncode(b, sum[:])
}

// checkDigest fails with ErrTorn where the items, the root among them, are not those with which the root was written.
// A root that others have written holds no digest.
func (a *assembler) checkDigest(root *driver.Row, items []driver.Row) error {
	digest := root.Record.JSON(a.plan.digest)
	if digest == nil {
		return nil
	}
	a.text = a.text[:0]
	for i := range items {
		if items[i].Key.SK != root.Key.SK {
			a.text = appendItem(a.text, &items[i])
		}
	}
	var is [16]byte
	if want, _ := record.String(digest); string(appendDigest(is[:0], a.text)) != want {
		return ErrTorn
	}
	return nil
}
