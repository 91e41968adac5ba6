package rule

// Joins.
var (
	JoinUnknown = newRule("join-unknown",
		"joins {1}, which is the table of no read model{3}",
		"name the table of a read model: {2}")
	JoinPlugin = newRule("join-plugin",
		"joins {1} of plugin {2}, but {3}",
		"correct or remove plugin")
	JoinVia = newRule("join-via",
		"joins {1} by its index {2}, which it does not have{4}",
		"{3}leave via out")
	JoinSingleton = newRule("join-singleton",
		"joins {1}, which has one row and no key",
		"query it by itself")
	JoinComposite = newRule("join-composite",
		"joins {1} by {2}, whose partition key is composed of several fields",
		"{3}")
	JoinKind = newRule("join-kind",
		"is {1}, and {2} of {3}, by which it joins, is {4}",
		"give both the same type")
	JoinEntity = newRule("join-entity",
		"joins {1} by {2}, which is {3}",
		"{4}")
	JoinBy = newRule("join-by",
		"joins by {1}, {2}",
		"name fields of this type that hold the key of the other together, this one among them")
	JoinByCount = newRule("join-by-count",
		"joins {1} by {2}, and the key is {3}",
		"name as many fields, in that order")
	JoinByGuard = newRule("join-by-guard",
		"joins by {1} too, whose @auth is not that of this field",
		"give both fields the same @auth")
	JoinList = newRule("join-list",
		"is a list under @resolves",
		"use @resolvesMany")
	JoinListVia = newRule("join-list-via",
		"is a list, and joins {1} by its index {2}",
		"leave via out: a list leads to rows by their primary keys")
	JoinPages = newRule("join-pages",
		"joins pages of {1} by {2}, which {3}",
		"name an index of {1} whose partition key is this value: via; or use @resolves")
	JoinName = newRule("join-name",
		"names a virtual field {1}",
		"begin with a letter, and use letters, digits and \"_\"")
	JoinTaken = newRule("join-taken",
		"names a virtual field {1}, which is the name of another field of the type",
		"choose another name")
	JoinFirst = newWarning("join-first",
		"joins {1} by its index {2}, and where several rows have the value, which one it takes depends on the store",
		"add a sort key to the index, or in an entity make it unique; or use @resolvesMany, which leads to all of them")
	JoinPart = newWarning("join-part",
		"joins {1} by one text that holds its whole key ({2}), and has the name of one part of it",
		"{3}")
	JoinCosts = newWarning("join-costs",
		"joins {1} {2}: one query per id in place of one batch for all",
		"join by the whole primary key of a model where many rows are joined: by, where that has several fields")
)
