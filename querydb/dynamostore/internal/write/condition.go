package write

import (
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// require sets the condition that the rules of driver.Write ask for: none where the write has neither IfRevision nor a
// Position.
func (c *change) require() {
	switch {
	case c.read && c.revision == 0: // IfRevision, of a row that was not there: nobody has written it since
		c.names[nameRev] = layout.AttrRev
		c.condition = "attribute_not_exists(" + nameRev + ")" + orOtherIsGone(c)
	case c.read: // IfRevision: the row is at Row.Revision
		c.names[nameRev], c.values[valueRead] = layout.AttrRev, item.Count(c.revision)
		c.condition = nameRev + " = " + valueRead
	case c.slot != "": // a Position without IfRevision: the row has not reached it yet
		c.names[namePos], c.values[valuePos] = layout.AttrPos+c.slot, item.Number(c.position)
		c.condition = "attribute_not_exists(" + namePos + ") OR " + namePos + " < " + valuePos
	}
	if s := c.shape; s.Kind != "" { // no row of another kind has the key: see driver.Table
		c.also("attribute_not_exists("+nameKind+") OR "+nameKind+" = "+valueKind+" OR attribute_exists("+nameDeleted+")",
			nameKind, s.Kind)
		c.names[nameDeleted], c.values[valueKind] = layout.AttrDeleted, item.Text(s.Table.Kind)
	}
}

// orOtherIsGone lets a row that was not there take the place of a deleted one of another kind, unless the slot has
// come to the position.
func orOtherIsGone(c *change) string {
	if c.shape.Kind == "" {
		return ""
	}
	gone := "attribute_exists(" + nameDeleted + ") AND " + nameKind + " <> " + valueKind
	if c.slot != "" {
		c.names[namePos], c.values[valuePos] = layout.AttrPos+c.slot, item.Number(c.position)
		gone += " AND (attribute_not_exists(" + namePos + ") OR " + namePos + " < " + valuePos + ")"
	}
	return " OR " + gone
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
