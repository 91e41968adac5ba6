package rule

// Read models and their fields.
var (
	NoModels = newRule("no-models",
		"no type is a read model",
		"annotate one with @readModel(events: […]) or @stateView(events: […])")
	OwnDirective = newRule("own-directive",
		"defines the directive @{1}; the schemas know those of read models and events alone",
		"remove the definition")
	OurDirective = newRule("our-directive",
		"defines the directive @{1}, which is there already",
		"remove the definition")
	OurType = newRule("our-type",
		"declares {1}, which is there already",
		"remove the declaration, or choose another name")
	RootModel = newRule("root-model",
		"is the root of all queries and cannot be a read model",
		"annotate a type of its own")
	RootApart = newRule("root-apart",
		"{1}, and the root of all queries is part of no other type",
		"take a type of its own")
	RootAlike = newRule("root-alike",
		"is called like the root of all queries but for case",
		"choose another name")
	OtherRoot = newRule("other-root",
		"the root of {1} is {2}",
		"name the root of queries Query, and leave the schema block out")
	ReadOnly = newRule("read-only",
		"is the root of {1}; this server answers queries alone",
		"remove it; events are what changes read models")
	Orphan = newRule("annotation-without-model",
		"has {1}, and is no read model",
		"annotate it with @readModel(events: […]), or remove {1}")
	Implements = newRule("implements",
		"implements an interface, which no read model can",
		"remove \"implements {1}\"")
	InUnion = newRule("in-union",
		"holds the read model {1}; read models stand in the unions of collections alone",
		"make them entities of one collection, or remove the union")
	VersionRange = newRule("version",
		"has version {1}",
		"count versions from 1")
	TableName = newRule("table-name",
		"has the table name {1}",
		"use letters, digits, \"_\" and \"-\", at most 200 of them, and not the name foldql")
	TableTaken = newRule("table-taken",
		"has the table {1}, which is the table of {2}",
		"give one of them another table, or make them entities of one with @entity")
	PluginName = newRule("plugin-name",
		"has the plugin {1}",
		"begin with a letter, and use letters, digits and \"_\"")
	ProjectorName = newRule("projector-name",
		"has the projector {1}",
		"begin with a letter, and use letters, digits, \"_\" and \"-\"")
	ProjectorTaken = newRule("projector-taken",
		"has the projector {1}, which is the projector of {2}",
		"give one of them another projector: its checkpoint is kept under that name")
	StreamForm = newRule("stream",
		"has the stream {1}, which is no CloudEvents source",
		"write a URI reference, such as /orders")
	TagForm = newRule("tag-form",
		"filters by the tag {1}",
		"write \"field:value\"")
	TagUnknown = newRule("tag-unknown",
		"filters by the tag {1}, but none of its events marks a field {2} as a tag",
		"mark the field with @partitionTag or @tag in the events' schema")
	TagsContradict = newRule("tags-contradict",
		"filters by two values of the tag {1}; no event carries both",
		"keep one of them")
	UnknownEvent = newRule("unknown-event",
		"takes the event {1}, which the events' schema does not declare{2}",
		"correct its name, or declare type {1} there")
	FieldArguments = newRule("field-arguments",
		"has arguments; a stored field takes none",
		"remove them")
	NestedList = newRule("nested-list",
		"is a list of lists",
		"make it a list, or a type of its own")
	NullableElement = newRule("nullable-element",
		"is a list whose elements may be null",
		"write [{1}!]")
	ObjectField = newRule("object-field",
		"has the read model {1} as its type; rows do not contain rows",
		"mark the field @ref in a read model to store a copy, or store its key and join it with @resolves")
	ObjectAbstract = newRule("object-abstract",
		"is the type of an object in a row, and belongs to {1}",
		"remove it from the interface or union, which objects in rows cannot belong to")
	ObjectCycle = newRule("object-cycle",
		"contains itself, through {1}",
		"remove one of these fields, or make a read model of the type and join it with @resolves")
	ObjectDepth = newRule("object-depth",
		"nests objects {1} levels deep; {2} levels are the limit",
		"flatten the types")
	AbstractField = newRule("abstract-field",
		"holds {1}; a row holds scalars, enums, objects and lists of them",
		"use one of ID, String, Boolean, Int, Int64, Float, Decimal, Date, DateTime, an enum or an object type")
	UnknownScalar = newRule("unknown-scalar",
		"holds the scalar {1}, which has no stored form{2}",
		"use one of ID, String, Boolean, Int, Int64, Float, Decimal, Date, DateTime")
	UnknownType = newRule("unknown-type",
		"has the type {1}, which is not declared{2}",
		"correct its name, or declare it")
)

// Fields by which list queries filter.
var (
	FilterType = newRule("filter-type",
		"is @filterable and holds {1}, an object",
		"mark a field that holds a scalar, an enum, or a list of them")
	FilterName = newRule("filter-name",
		"is @filterable and called {1}, as what combines the conditions of a filter",
		"rename the field")
	FilterUnused = newRule("filter-unused",
		"is @filterable, and there is no query of several rows of {1}",
		"give the type a sort key or an index, or take @filterable away")
	FilterTaken = newRule("filter-taken",
		"{1} has a name that @filterable makes, for {2}",
		"rename it, or take @filterable away")
)
