package aggregate

import (
	"encoding/hex"
	"slices"

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

func addTo(d *xxhash.Digest, item *driver.Row) {
	d.WriteString(item.Key.SK)
	d.WriteString("\x00")
	d.Write(item.Record)
}

// checkDigest fails with ErrTorn where the items, the root among them, are not those with which the root was written.
// A root that others have written holds no digest.
func checkDigest(p *part, root *driver.Row, items []driver.Row) error {
	text := root.Record.JSON(digestPlace(p.table))
	if text == nil {
		return nil
	}
	d := xxhash.New()
	for i := range items {
		if items[i].Key.SK != root.Key.SK {
			addTo(d, &items[i])
		}
	}
	if want, _ := record.String(text); hex.EncodeToString(d.Sum(nil)) != want {
		return ErrTorn
	}
	return nil
}

// digestPlace is the ordinal of the digest in the items of the root.
func digestPlace(root *driver.Table) int {
	return slices.IndexFunc(root.Fields, func(f driver.Field) bool { return f.Name == DigestField })
}
