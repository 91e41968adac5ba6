package aggregate

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// order puts the elements of a list, which are in the order of their sort keys, into that of the field by which they
// come. Elements with one value keep the order of their sort keys.
func (p *part) order(items []*driver.Row) {
	scalar := p.Object[p.orderBy].Scalar
	if scalar == "Int" && orderBy(items, func(item *driver.Row) (int, bool) {
		text, _ := p.own(item, p.orderBy)
		return record.Int(text)
	}) {
		return
	}
	orderBy(items, func(item *driver.Row) (string, bool) {
		text, _ := p.own(item, p.orderBy)
		return orderText(scalar, text), true
	})
}

// element is an item with the value by which it comes.
type element[V cmp.Ordered] struct {
	by   V
	item *driver.Row
}

// orderBy orders items by a value that each has; where one has none, it leaves them as they are.
func orderBy[V cmp.Ordered](items []*driver.Row, value func(*driver.Row) (v V, ok bool)) bool {
	elements := make([]element[V], len(items))
	for i, item := range items {
		by, ok := value(item)
		if !ok {
			return false
		}
		elements[i] = element[V]{by, item}
	}
	slices.SortStableFunc(elements, func(a, b element[V]) int { return cmp.Compare(a.by, b.by) })
	for i := range elements {
		items[i] = elements[i].item
	}
	return true
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
