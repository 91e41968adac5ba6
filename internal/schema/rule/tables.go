package rule

// Tables that entities share, and their attributes.
var (
	SharedTableName = newRule("shared-table-name",
		"@table has the name {1}",
		"use letters, digits, \"_\" and \"-\", at most 200 of them, and not the name foldql")
	SharedTableTaken = newRule("shared-table-taken",
		"has the table {1}, which entities share",
		"give it another table, or make it an entity with @entity")
	TableTwice = newRule("table-twice",
		"@table describes {1} a second time",
		"keep one of them")
	TableUnused = newWarning("table-unused",
		"@table describes {1}, of which nothing is an entity",
		"add @entity(table: \"{1}\") to types, or remove it")
	TableVersion = newRule("table-version",
		"@table {1} has version {2}",
		"count versions from 1")
	SchemaName = newRule("schema-name",
		"@table {1} has the schema {2}",
		"use printable ASCII characters other than #, % and the space, at most 128 of them")
	SchemaMissing = newRule("schema-missing",
		"is an entity of table {1}, whose @table names no schema for its keys to begin with",
		"add schema to @table, or write the keys as templates with @keys")
	AttributeName = newRule("attribute-name",
		"table {1} has as {2} the attribute {3}",
		"begin with a letter or \"_\", and use letters, digits, \"_\", \"-\" and \".\", at most 255 of them")
	AttributeReserved = newRule("attribute-reserved",
		"table {1} has as {2} the attribute {3}, which the store needs for itself",
		"choose another name")
	AttributeTaken = newRule("attribute-taken",
		"table {1} has one attribute, {3}, as {4} and as {2}",
		"choose another name: {5}")
	AttributeField = newRule("attribute-field",
		"has the name of the attribute that is the {1} of table {2}",
		"rename the field, or the attribute")
	AttributeOfNothing = newRule("attribute-of-nothing",
		"index {1} names the attribute of its sort key, but has none",
		"add sk, or remove skAttribute")
	PolicyOfNothing = newRule("policy-of-nothing",
		"index {1} has a policy for its sort key, but no sort key",
		"add sk, or remove sk from policy")
	IndexAttributes = newRule("index-attributes",
		"names the {2} of index {1} {3}, and type {4} names it {5}",
		"give both the same, or only one of them any")
	LocalKey = newRule("local-key",
		"index {1} has the table's own partition key, attribute {2}, and composes another key for it",
		"compose pk of the fields of the primary key's pk, with the same casing and in no collection, or choose "+
			"another pkAttribute")
	LocalUnsorted = newRule("local-unsorted",
		"index {1} has the table's own partition key, attribute {2}, and no sort key",
		"add sk: an index of that kind is the partition in another order")
	IndexSortHalf = newRule("index-sort-half",
		"has {2} in index {1}, and type {3} has {4}",
		"use one of them with another index of the table")
	TooManyIndexes = newRule("too-many-indexes",
		"uses {1}, which is the {2}st index of table {3}; a table has {4} at most",
		"use one that is there, with keys that no other type has")
)
