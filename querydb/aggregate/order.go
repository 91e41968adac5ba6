package aggregate

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// order puts the elements of a list, which are in the order of their sort keys, into that of the field by which they
// come. Elements with one value keep the order of their sort keys.
func (c *child) order(items []driver.Row) {
	if c.OrderBy < 0 {
		return
	}
	type element struct {
		by   string
		item driver.Row
	}
	elements := make([]element, len(items))
	for i := range items {
		text, _ := c.part.own(&items[i], c.OrderBy)
		elements[i] = element{orderText(c.Object[c.OrderBy].Scalar, text), items[i]}
	}
	slices.SortStableFunc(elements, func(a, b element) int { return strings.Compare(a.by, b.by) })
	for i := range elements {
		items[i] = elements[i].item
	}
}

// orderText is a text that sorts as the value does: that of a key which is made of it.
func orderText(scalar string, text []byte) string {
	v, ok := record.KeyValue(scalar, text)
	if !ok {
		return string(text)
	}
	key, err := keys.Layout{Segments: []keys.Segment{{Kind: v.Kind()}}}.Compose(v)
	if err != nil {
		return string(text)
	}
	return key
}
