package rule

// Keys and indexes.
var (
	TwoIDs = newRule("two-keys",
		"is a second @{1}, the first is {2}",
		"keep one @{1}, or mark both @{3}")
	IdAndComposite = newRule("key-and-composite",
		"is @{1} beside @{2} on {3}",
		"mark all of them @{2}, or keep one @{1}")
	NoKey = newWarning("no-key",
		"has no @id, so that all its events are folded into one row",
		"mark the field that names the row @id, or add singleton: true to @{1} where one row is meant")
	KeyOfSingleton = newRule("key-of-singleton",
		"is a singleton, and is keyed by {1}",
		"remove singleton: true, or the key")
	SubIDWithoutID = newRule("sort-without-key",
		"has a sort key but no partition key",
		"mark the field that names the partition @id")
	IndexWithoutID = newRule("index-without-key",
		"has an index but no @id; a model without @id has one row",
		"mark the field that names the row @id")
	KeyNullable = newRule("key-nullable",
		"is part of the primary key and may be null",
		"write {1}!")
	KeyList = newRule("key-list",
		"is a list in a key",
		"key by a field that holds one value")
	KeyObject = newRule("key-object",
		"is an object, {1}, in a key",
		"key by a field of the row that is no object")
	KeyHalves = newRule("key-halves",
		"is in both halves of the primary key",
		"keep it in one of them")
	SepForm = newRule("sep",
		"has the separator {1}",
		"use one punctuation character other than %, such as / or #")
	SepEscaped = newWarning("sep-escaped",
		"has the separator {1}, which stands in the text of {2} as well and is written {3} there, in keys and in "+
			"operands",
		"use another one, such as / or #")
	SepConflict = newRule("sep-conflict",
		"has the separator {1}, another field of the key has {2}",
		"give all of them the same, or only one of them any")
	IndexName = newRule("index-name",
		"has the index name {1}",
		"begin with a letter, and use letters, digits and \"_\"")
	IndexRepeated = newRule("index-repeated",
		"is twice in @{1} {2}",
		"keep one of them")
	IndexNameTaken = newRule("index-name-taken",
		"names its index {1}, which is the index without a name of field {1}",
		"name the index otherwise")
	IndexConflict = newRule("index-conflict",
		"gives index {1} another {2} than field {3} does",
		"give {2} on one of the fields of the index")
	IndexHalves = newRule("index-halves",
		"is in both halves of index {1}",
		"keep it in one of them")
	SubIndexAlone = newRule("sort-without-index",
		"is the sort key of index {1}, which no field of the type has",
		"add @index(name: \"{1}\") to the field that the index is for")
	IncludeMissing = newRule("include-missing",
		"index {1} has the projection INCLUDE, but not what to include",
		"add include: […], or use ALL")
	IncludeConflict = newRule("include-conflict",
		"index {1} includes fields under the projection {2}",
		"use the projection INCLUDE, or drop include")
	IncludeUnknown = newRule("include-unknown",
		"index {1} includes {2}, which is no stored field of the type",
		"name stored fields")
)
