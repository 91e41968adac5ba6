package aggregate

import (
	"encoding/hex"

	"github.com/cespare/xxhash/v2"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// digestOf is the digest of the items beside the root, in the order of their keys.
func digestOf(members []driver.Row) string {
	d := xxhash.New()
	for i := range members {
		addTo(d, &members[i])
	}
	return hex.EncodeToString(d.Sum(nil))
}

var separator = []byte{0}

func addTo(d *xxhash.Digest, item *driver.Row) {
	d.WriteString(item.Key.SK)
	d.Write(separator)
	d.Write(item.Record)
}

// checkDigest fails with ErrTorn where the items, the root among them, are not those with which the root was written.
// A root that others have written holds no digest.
func checkDigest(p *Plan, root *driver.Row, items []driver.Row) error {
	text := root.Record.JSON(p.digest)
	if text == nil {
		return nil
	}
	var d xxhash.Digest
	d.Reset()
	for i := range items {
		if items[i].Key.SK != root.Key.SK {
			addTo(&d, &items[i])
		}
	}
	var sum [8]byte
	var is [2 * len(sum)]byte
	hex.Encode(is[:], d.Sum(sum[:0]))
	if want, _ := record.String(text); string(is[:]) != want {
		return ErrTorn
	}
	return nil
}
