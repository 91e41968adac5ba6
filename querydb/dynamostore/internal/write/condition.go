package write

import (
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// require sets the condition.
func (c *change) require() {
	switch {
	case c.read && c.revision == 0:
		c.names[nameRev] = layout.AttrRev
		c.condition = "attribute_not_exists(" + nameRev + ")"
	case c.read:
		c.names[nameRev], c.values[valueRead] = layout.AttrRev, item.Count(c.revision)
		c.condition = nameRev + " = " + valueRead
	case c.slot != "":
		c.names[namePos], c.values[valuePos] = layout.AttrPos+c.slot, item.Number(c.position)
		c.condition = "attribute_not_exists(" + namePos + ") OR " + namePos + " < " + valuePos
	}
	if s := c.shape; s.Kind != "" {
		c.also("attribute_not_exists("+nameKind+") OR "+nameKind+" = "+valueKind, nameKind, s.Kind)
		c.values[valueKind] = item.Text(s.Table.Kind)
	}
}

// also adds to the condition, under a name.
func (c *change) also(condition, name, attr string) {
	c.names[name] = attr
	if c.condition != "" {
		c.condition = "(" + c.condition + ") AND "
	}
	c.condition += "(" + condition + ")"
}

// is adds to the condition that the attribute is there, or is not.
func (c *change) is(there bool, name, attr string) {
	if there {
		c.also("attribute_exists("+name+")", name, attr)
	} else {
		c.also("attribute_not_exists("+name+")", name, attr)
	}
}
