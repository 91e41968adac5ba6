package write

import (
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"strconv"
	"strings"
)

// setUpdate sets the update expression, and the size that the item will have, or that the part of it has.
func (c *change) setUpdate(vals []item.Value, part *partEncoder) {
	s := c.shape
	e := expression{set: make([]byte, 0, 512), remove: make([]byte, 0, 128)}
	for i, v := range vals {
		if part != nil && !part.touched[i] {
			continue
		}
		column := &s.Columns[i]
		c.names[column.Name] = column.Attr
		if v == nil {
			e.remove = append(append(e.remove, ','), column.Name...)
			continue
		}
		e.set = appendSet(e.set, column.Name, column.Value)
		c.values[column.Value] = v
		c.size += len(column.Attr) + item.ValueSize(v)
	}
	c.names[nameBy] = layout.AttrBy
	if c.slot != "" {
		e.set = appendSet(appendSet(e.set, namePos, valuePos), nameBy, valueBy)
		c.names[namePos], c.values[valuePos], c.values[valueBy] = layout.AttrPos+c.slot, item.Number(c.position),
			item.Text(c.slot)
		c.size += len(layout.AttrPos) + len(layout.AttrBy) + 2*len(c.slot) + item.NumberSize(c.position)
	} else {
		e.remove = append(append(e.remove, ','), nameBy...)
	}
	if part != nil {
		part.extend(&e)
	}
	c.names[nameRev], c.values[valueOne] = layout.AttrRev, item.Number("1")
	c.size += len(layout.AttrRev) + item.NumberSize(strconv.FormatUint(c.revision, 10))
	for name, v := range c.key {
		c.size += len(name) + item.ValueSize(v)
	}
	e.add = appendPair(e.add, nameRev, valueOne)
	c.update = e.String()
}

// expression is the clauses of an update, each of which begins with a comma for every part.
type expression struct{ set, remove, drop, add []byte }

func appendSet(dst []byte, name, value string) []byte {
	dst = append(append(dst, ','), name...)
	return append(append(dst, '='), value...)
}

func appendPair(dst []byte, name, value string) []byte {
	dst = append(append(dst, ','), name...)
	return append(append(dst, ' '), value...)
}

// String joins the clauses.
func (e *expression) String() string {
	var b strings.Builder
	for _, clause := range [...]struct {
		verb  string
		parts []byte
	}{{"SET ", e.set}, {"REMOVE ", e.remove}, {"DELETE ", e.drop}, {"ADD ", e.add}} {
		if len(clause.parts) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(clause.verb)
		b.Write(clause.parts[1:])
	}
	return b.String()
}
