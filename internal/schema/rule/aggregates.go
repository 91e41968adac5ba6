package rule

// Aggregates, and the parts that they consist of.
var (
	AggregateTable = newRule("aggregate-table",
		"is an aggregate in the table {1}, which no @table describes; {2}",
		"add extend schema @table(name: \"{1}\", …), or correct the name")
	AggregateSchema = newRule("aggregate-schema",
		"is an aggregate in table {1}, whose @table names no schema for its keys to begin with",
		"add schema to @table")
	AggregateAnd = newRule("aggregate-and",
		"@{1} cannot stand in an aggregate",
		"{2}")
	AggregateName = newRule("aggregate-name",
		"has {1} {2} in its keys",
		"use printable ASCII characters other than #, % and the space, at most 128 of them")
	AggregateField = newRule("aggregate-field",
		"@aggregate has in {1} the field {2}, which is none that the item of the root holds",
		"name fields of the type other than @one, @many and @sub")
	AggregateNullable = newRule("aggregate-nullable",
		"is part of a key of the aggregate and may be null",
		"write {1}!")
	AggregateWriters = newRule("aggregate-writers",
		"is an aggregate and has several writers",
		"let one projector write it: it is written as a whole")
	AggregatePartition = newRule("aggregate-partition",
		"is kept in partitions {2} that could be partitions of type {1}",
		"give its collection another name")
	ContextType = newRule("context-type",
		"is context of an aggregate and {1}",
		"name fields that hold one value")
	PartField = newRule("part-field",
		"has the type {1}, whose values are parts of aggregates",
		"mark the field @sub, @one or @many in an aggregate, or take another type")
	PartUnused = newRule("part-unused",
		"is part of no aggregate",
		"give it to a field with @sub, @one or @many, or remove it")
	PartTwice = newRule("part-twice",
		"has @{1} beside @{2}",
		"keep one of them")
	PartDirective = newRule("part-directive",
		"@{1} cannot stand in a part of an aggregate",
		"remove it, or put it in the aggregate")
	PartOwner = newRule("part-owner",
		"lets the owner read, but {1}, which it is part of, has no @owner",
		"mark the field of {1} that holds the owner's subject @owner")
	PartKeys = newRule("part-keys",
		"has items {1}, whose keys could be those of {2}",
		"give one of them another type, or sub-aggregates other discriminators")
	PartKind = newRule("part-kind",
		"has items of type {1}, as {2} has, which is of another type in the schema",
		"give one of them another type in the table")
	PartReserved = newRule("part-reserved",
		"has the name of the attribute that holds a digest of the aggregate",
		"choose another name")
	EdgeOutside = newRule("edge-outside",
		"is @{1}, and the type is no aggregate",
		"add @aggregate(…) to the type, or store a copy with @ref")
	EdgeTwice = newRule("edge-twice",
		"is @{1} and @{2}",
		"keep one of them")
	EdgeInMember = newRule("edge-in-member",
		"is @{1} in a type with @member, whose values have one item",
		"mark the type @subAggregate(root: …) and the field that holds it @sub, or copy a row with @ref")
	EdgeType = newRule("edge-type",
		"is @{1} and of type {2}, which is neither a read model nor a type with @member",
		"mark {2} @member, or use @sub for a type with @subAggregate")
	EdgeList = newRule("edge-list",
		"is @{1} and a list",
		"use @many with a read model or a type with @member")
	EdgeNoList = newRule("edge-no-list",
		"is @many and no list",
		"write [{1}!]!, or use @one")
	EdgeCopy = newRule("edge-copy",
		"has @{1} with {2}, and {3} is no read model whose rows could be copied",
		"put it on a field with @ref in {3}, or remove it")
	ManyMissing = newRule("many-missing",
		"has @many(missing: NULL), and elements of a list cannot be null",
		"remove missing: NULL")
	SubType = newRule("sub-type",
		"is @sub and of type {1}, which has no @subAggregate",
		"mark {1} @subAggregate(root: …), or use @one")
	SubAlike = newRule("sub-alike",
		"is of type {1} as {2} is, and no discriminator tells their items apart",
		"give each a value of its own: @sub(discriminator: {number: 1})")
	DiscriminatorName = newRule("discriminator-name",
		"has the discriminator {1}, which is {2}",
		"choose another name")
	DiscriminatorValue = newRule("discriminator-value",
		"has the discriminator {1} with the value {2}",
		"give it a text, or a number from 0 to 2147483647")
	ElementKey = newRule("element-key",
		"has elements without a sort key: {1} has {2} with @ref",
		"name fields of {1} that tell elements apart: sk: […]")
	ElementField = newRule("element-field",
		"has in {1} the field {2} of {4}, which {3}",
		"name scalar fields of {4} that cannot be null")
)
