package schema

// Joins.
var (
	joinUnknown = newRule("join-unknown",
		"joins {1}, which is the table of no read model",
		"name the table of a read model: {2}")
	joinPlugin = newRule("join-plugin",
		"joins {1} of plugin {2}, but {3}",
		"correct or remove plugin")
	joinVia = newRule("join-via",
		"joins {1} by its index {2}, which it does not have",
		"name one of its indexes, or leave via out")
	joinSingleton = newRule("join-singleton",
		"joins {1}, which has one row and no key",
		"query it by itself")
	joinComposite = newRule("join-composite",
		"joins {1} by {2}, whose partition key is composed of several fields",
		"join by an index on one field: via")
	joinKind = newRule("join-kind",
		"is {1}, and {2} of {3}, by which it joins, is {4}",
		"give both the same type")
	joinEntity = newRule("join-entity",
		"joins {1} by {2}, which is {3}",
		"join by an index on one field: via")
	joinList = newRule("join-list",
		"is a list under @resolves",
		"use @resolvesMany")
	joinNoList = newRule("join-no-list",
		"is no list under @resolvesMany",
		"use @resolves")
	joinName = newRule("join-name",
		"names a virtual field {1}",
		"begin with a letter, and use letters, digits and \"_\"")
	joinTaken = newRule("join-taken",
		"names a virtual field {1}, which is the name of another field of the type",
		"choose another name")
	joinCosts = newWarning("join-costs",
		"joins {1} {2}: one query per id in place of one batch for all",
		"join by the primary key of a model without sort key where many rows are joined")
)
