package schema

// Tables that entities share, and their attributes.
var (
	sharedTableName    = newRule("shared-table-name", "@table has the name {1}", "use letters, digits, \"_\" and \"-\", at most 200 of them, and not the name foldql")
	sharedTableTaken   = newRule("shared-table-taken", "has the table {1}, which entities share", "give it another table, or make it an entity with @entity")
	tableTwice         = newRule("table-twice", "@table describes {1} a second time", "keep one of them")
	tableUnused        = newWarning("table-unused", "@table describes {1}, of which nothing is an entity", "add @entity(table: \"{1}\") to types, or remove it")
	tableVersion       = newRule("table-version", "@table {1} has version {2}", "count versions from 1")
	schemaName         = newRule("schema-name", "@table {1} has the schema {2}", "use printable ASCII characters other than #, % and the space, at most 128 of them")
	schemaMissing      = newRule("schema-missing", "is an entity of table {1}, whose @table names no schema for its keys to begin with", "add schema to @table, or write the keys as templates with @keys")
	attributeName      = newRule("attribute-name", "table {1} has as {2} the attribute {3}", "begin with a letter or \"_\", and use letters, digits, \"_\", \"-\" and \".\", at most 255 of them")
	attributeReserved  = newRule("attribute-reserved", "table {1} has as {2} the attribute {3}, which the store needs for itself", "choose another name")
	attributeTaken     = newRule("attribute-taken", "table {1} has one attribute, {3}, as {4} and as {2}", "choose another name: {5}")
	attributeField     = newRule("attribute-field", "has the name of the attribute that is the {1} of table {2}", "rename the field, or the attribute")
	attributeOfNothing = newRule("attribute-of-nothing", "index {1} names the attribute of its sort key, but has none", "add sk, or remove skAttribute")
	policyOfNothing    = newRule("policy-of-nothing", "index {1} has a policy for its sort key, but no sort key", "add sk, or remove sk from policy")
	indexAttributes    = newRule("index-attributes", "names the {2} of index {1} {3}, and type {4} names it {5}", "give both the same, or only one of them any")
	localKey           = newRule("local-key", "index {1} has the table's own partition key, attribute {2}, and composes another key for it", "compose pk of the fields of the primary key's pk, with the same casing and in no collection, or choose another pkAttribute")
	localUnsorted      = newRule("local-unsorted", "index {1} has the table's own partition key, attribute {2}, and no sort key", "add sk: an index of that kind is the partition in another order")
	indexSortHalf      = newRule("index-sort-half", "has {2} in index {1}, and type {3} has {4}", "use one of them with another index of the table")
	tooManyIndexes     = newRule("too-many-indexes", "uses {1}, which is the {2}st index of table {3}; a table has {4} at most", "use one that is there, with keys that no other type has")
)

// Entities and what their keys are composed of.
var (
	entityTable       = newRule("entity-table", "is an entity of the table {1}, which no @table describes; {2}", "add extend schema @table(name: \"{1}\", …), or correct the name")
	entityType        = newRule("entity-type", "has the entity type {1}", "use printable ASCII characters other than #, % and the space, at most 128 of them")
	entityTypeTwice   = newRule("entity-type-twice", "has the entity type {1}, and type {2} has {3} in the same table", "give one of them another, by more than its casing")
	entityOwnTable    = newRule("entity-own-table", "has a table of its own, {1}, beside @entity", "remove table from @{2}")
	entityAndKey      = newRule("entity-and-key", "is @{1} in an entity", "name it in @primaryKey, @gsi or @keys of the type")
	entityWithoutKey  = newRule("entity-without-key", "is an entity without a key", "add @primaryKey or @keys")
	keyWithoutEntity  = newRule("key-without-entity", "has @{1} and is no entity", "add @entity(table: …), or mark fields @id and @index")
	keysAndOther      = newRule("keys-and-other", "has @{1} beside @keys", "write all keys of the type in one of the two ways")
	compositeUnknown  = newRule("composite-unknown", "@{1} has in {2} the field {3}, which is no stored field of the type", "name stored fields")
	indexTwice        = newRule("index-twice", "has a second index {1}", "name one of them otherwise")
	physicalIndexName = newRule("physical-index-name", "index {1} lies in the index {2} of its table", "use letters, digits, \"_\", \"-\" and \".\", 3 to 255 of them")
	indexUsedTwice    = newRule("index-used-twice", "uses the index {1} of its table for {2} and for {3}; a row has one key in it", "use another index for one of them")
	uniqueOfNothing   = newRule("unique-of-nothing", "index {1} is unique, and its key is the same for all rows", "compose its key of what is to be unique")
	uniqueByKey       = newRule("unique-by-key", "index {1} is unique, but its key holds the whole primary key, so that no two rows can share it anyway", "compose its key of what is to be unique alone")
	keysMeet          = newRule("keys-meet", "has keys {2} that could be keys {3} of type {1}", "begin one of the halves with a literal of its own")
	readsOver         = newWarning("reads-over", "makes the query {1}, which reads over rows of type {2} that lie between its own", "begin the sort key with a literal that no other type has there")
)

// Templates.
var (
	templateForm   = newRule("template", "the template {1} {2}", "join literals and {field}s with #, such as post#{createdAt}#{id}")
	padOfNoNumber  = newRule("pad-of-no-number", "pads {1}, which is {2}", "pad numbers alone")
	padRange       = newRule("pad-range", "pads {1} to {2} digits", "pad to 1 to {3} digits")
	numberUnpadded = newWarning("number-unpadded", "is a number in a sort key without padding, which sorts 10 before 9", "write {field:16} with as many digits as it can have")
)

// Collections.
var (
	collectionName        = newRule("collection-name", "index {1} is of the collection {2}", "begin with a letter, and use letters, digits and \"_\"")
	nestedIsolated        = newRule("nested-isolated", "index {1} is of nested collections, {2}, and isolated", "add type: CLUSTERED, or name one collection")
	typeWithoutCollection = newRule("type-without-collection", "index {1} is {2}, but of no collection", "add collection: …, or remove type")
	collectionType        = newRule("collection-type", "is {2} in index {1}, and type {3} is {4}", "give all collections of an index the same type")
	collectionPK          = newRule("collection-pk", "is of collection {1} by {2}, and type {3} is by {4}", "give all of them the same pk")
	collectionCasing      = newRule("collection-casing", "is of collection {1} with the casing {2}, and type {3} with {4}", "give all of them the same")
	collectionPlugin      = newRule("collection-plugin", "is of collection {1} with another plugin than type {2}", "give all of them the same")
	collectionAccess      = newRule("collection-access", "is of collection {1} with another group or authTable than type {2}", "give all of them the same")
	collectionAs          = newRule("collection-as", "@collection gives collection {1} the name {2}", "begin with a letter, and use letters, digits and \"_\"")
	collectionUnknown     = newRule("collection-unknown", "@collection names the collection {1} of table {2}, which no @gsi makes", "correct table, name or index, or remove it")
	collectionAmbiguous   = newRule("collection-ambiguous", "@collection names the collection {1} of table {2}, and one of index {3} and one of {4} have that name", "add index, and keep collections within others apart by their names")
	collectionNamedTwice  = newRule("collection-named-twice", "@collection names the collection {1} of table {2} a second time, the first name is {3}", "keep one of them")
	collectionTaken       = newRule("collection-taken", "collection {1} of table {2} makes {3}, which {4}", "give the collection another name in the API: extend schema @collection(table: \"{2}\", name: \"{1}\", as: …)")
	collectionMeets       = newRule("collection-meets", "index {1} lies in the range of collection {2} of index {3}, of which it is none", "rename the collection, or use another index of the table")
)

// Rows with several writers.
var (
	writerIncomplete = newRule("writer-incomplete", "has several writers, and this one has no {1}", "add {1}: …")
	writerConflict   = newRule("writer-conflict", "gives another {1} than an annotation before", "give it once; it holds for the row")
	writesUnknown    = newRule("writes-unknown", "projector {1} writes {2}, which is no stored field of the type", "name stored fields")
	writesKey        = newRule("writes-key", "is part of the primary key, and projector {1} writes it", "leave it out: whoever writes the row names it by its key")
	writesTwice      = newRule("writes-twice", "is written by the projectors {1} and {2}", "let one of them write it")
	unwritten        = newRule("unwritten", "is written by no projector", "name it in writes of one of them")
	writesNullable   = newRule("writes-nullable", "cannot be null, and a row may be there before projector {1} writes it", "drop the \"!\"")
	halfOwners       = newRule("half-owners", "is in the {1} of index {2}; it is written by projector {3}, and {4}, which is in it too, by {5}", "compose each half of an index of one projector's fields")
)
