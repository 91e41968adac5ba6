package rule

// Identifiers, and copies of the rows that they name.
var (
	TwoIdentifiers = newRule("two-identifiers",
		"is a second @identifier, the first is {1}",
		"keep one of them")
	IdentifierType = newRule("identifier-type",
		"is @identifier and {1}",
		"make it an ID or a String")
	IdentifierKey = newRule("identifier-key",
		"is @identifier and not the whole primary key of the type: the partition key is {1}, the sort key is {2}",
		"make it the only field of the primary key, or remove @identifier")
	RefObject = newRule("ref-object",
		"has @ref and the object type {1}, whose values stand in rows by themselves",
		"remove @ref")
	RefNoModel = newRule("ref-no-model",
		"has @ref and the type {1}, which is no read model",
		"refer to a read model, or remove @ref")
	RefList = newRule("ref-list",
		"is a list of references",
		"refer to one row, or store a list of identifiers and join it with @resolvesMany")
	RefIdentifier = newRule("ref-identifier",
		"refers to {1}, whose rows have no identifier",
		"mark the field that is the whole primary key of {1} @identifier, or store the key and join it with @resolves")
	RefAggregate = newRule("ref-aggregate",
		"copies {1}, whose rows are aggregates and stored as several items",
		"store the key and join it with @resolves, or copy what the aggregate copies itself")
	RefNullable = newRule("ref-nullable",
		"has @{1}(missing: NULL) and may not be null",
		"write its type without \"!\", or remove missing: NULL")
	RefGuard = newRule("ref-guard",
		"copies {1} for some whom its {2} does not admit",
		"give the field or its type an @auth that admits nobody else, or store the key and join it with @resolves")
	RefCosts = newWarning("ref-costs",
		"copies {1}, {2}",
		"store the key and join {1} with @resolves, unless rows are read far more often than written")
	KeyCopy = newRule("key-copy",
		"is a copy of a row of {1}, in a key",
		"name the identifier: {2}")
	WritesCopy = newRule("writes-copy",
		"is a copy of a row, and projector {1} writes it",
		"name the identifier, {2}; the copy follows it")
)
