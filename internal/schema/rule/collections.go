package rule

// Collections.
var (
	CollectionName = newRule("collection-name",
		"index {1} is of the collection {2}",
		"begin with a letter, and use letters, digits and \"_\"")
	NestedIsolated = newRule("nested-isolated",
		"index {1} is of nested collections, {2}, and isolated",
		"add type: CLUSTERED, or name one collection")
	TypeWithoutCollection = newRule("type-without-collection",
		"index {1} is {2}, but of no collection",
		"add collection: …, or remove type")
	CollectionType = newRule("collection-type",
		"is {2} in index {1}, and type {3} is {4}",
		"give all collections of an index the same type")
	CollectionPK = newRule("collection-pk",
		"is of collection {1} by {2}, and type {3} is by {4}",
		"give all of them the same pk")
	CollectionCasing = newRule("collection-casing",
		"is of collection {1} with the casing {2}, and type {3} with {4}",
		"give all of them the same")
	CollectionPlugin = newRule("collection-plugin",
		"is of collection {1} with another plugin than type {2}",
		"give all of them the same")
	CollectionAccess = newRule("collection-access",
		"is of collection {1} with another group or authTable than type {2}",
		"give all of them the same")
	CollectionAs = newRule("collection-as",
		"@collection gives collection {1} the name {2}",
		"begin with a letter, and use letters, digits and \"_\"")
	CollectionUnknown = newRule("collection-unknown",
		"@collection names the collection {1} of table {2}, which no @gsi makes",
		"correct table, name or index, or remove it")
	CollectionAmbiguous = newRule("collection-ambiguous",
		"@collection names the collection {1} of table {2}, and one of index {3} and one of {4} have that name",
		"{5}")
	CollectionNamedTwice = newRule("collection-named-twice",
		"@collection names the collection {1} of table {2} a second time, the first name is {3}",
		"keep one of them")
	CollectionTaken = newRule("collection-taken",
		"collection {1} of table {2} makes {3}, which {4}",
		"{5}")
	CollectionCollides = newRule("collection-collides",
		"index {1} lies in the range of collection {2} of index {3}, of which it is none",
		"rename the collection, or use another index of the table")
)
