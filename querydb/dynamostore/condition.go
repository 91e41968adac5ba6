package dynamostore

// require sets the condition.
func (c *change) require() {
	switch {
	case c.read && c.revision == 0:
		c.names[nameRev] = attrRev
		c.condition = "attribute_not_exists(" + nameRev + ")"
	case c.read:
		c.names[nameRev], c.values[valueRead] = attrRev, count(c.revision)
		c.condition = nameRev + " = " + valueRead
	case c.slot != "":
		c.names[namePos], c.values[valuePos] = attrPos+c.slot, number(c.position)
		c.condition = "attribute_not_exists(" + namePos + ") OR " + namePos + " < " + valuePos
	}
	if s := c.shape; s.kind != "" {
		c.also("attribute_not_exists("+nameKind+") OR "+nameKind+" = "+valueKind, nameKind, s.kind)
		c.values[valueKind] = text(s.table.Kind)
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
