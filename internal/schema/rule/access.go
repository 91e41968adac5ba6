package rule

// Who may read, and what time does to a row.
var (
	TwoOwners = newRule("two-owners",
		"is a second @owner, the first is {1}",
		"keep one of them")
	OwnerType = newRule("owner-type",
		"is @owner and {1}",
		"make it an ID or a String")
	AuthNullable = newRule("auth-nullable",
		"has @auth and cannot be null; whoever may not read it gets null",
		"drop the \"!\", or put @auth on the type")
	AuthNoOwner = newRule("auth-no-owner",
		"lets the owner read, but the type has no @owner",
		"mark the field that holds the owner's subject @owner")
	AuthIndexed = newRule("auth-indexed",
		"has {1}, and whoever may use index {2} finds its value, though not all of them may read it",
		"give the index a group that may read the field, and no authTable; put an @auth on the type that is as "+
			"strict; or leave the field out of the index")
	AuthProjected = newRule("auth-projected",
		"has index {1}, which holds {2} by its projection {3} for some who may not read that",
		"leave it out: {4}; or give the index a group that may read it, or the type an @auth that is as strict")
	AuthProjectedBeside = newRule("auth-projected-beside",
		"has index {1} in index {3} of the table, which holds {2} for some who may not read that, since it holds what {4} "+
			"asks for by its projection or keys",
		"use another index of the table; have the other leave it out; or give the index a group that may read it, or the "+
			"type an @auth that is as strict")
	OwnerIndex = newRule("owner-index",
		"lets owners alone read, and index {1} is of rows of several owners: nobody may read through it",
		"add {2} to the partition key of the index, with casing: NONE where that has a casing; give the index a "+
			"group, or @auth groups; or remove it")
	OwnerIndexGroup = newRule("owner-index-group",
		"lets owners alone read, and index {1} serves the group {2} alone, for the guarded fields in its key: nobody may "+
			"read through it",
		"admit the group with groups: [\"{2}\"] in @auth of the type, or remove the index")
	OwnerRange = newWarning("owner-range",
		"lets owners alone read, and its partitions are of several owners: rows can be read by their whole key "+
			"alone",
		"make {1} part of the partition key, with casing: NONE where that has a casing, or add groups to @auth")
	GroupMissing = newRule("group-missing",
		"index {1} has authTable without group",
		"name the group whose members may query it")
	AuthTable = newRule("auth-table",
		"index {1} has the authTable {2}, which is the table of no read model",
		"name the table of a read model with an @owner")
	AuthTableOwner = newRule("auth-table-owner",
		"index {1} has the authTable {2}, which has no @owner",
		"mark the owner's subject in {2} @owner")
	AuthTableKey = newRule("auth-table-key",
		"index {1} has the authTable {2}, whose primary key is not one field",
		"use a model with an @id and no sort key")
	AuthTableKind = newRule("auth-table-kind",
		"index {1} is by {2}, and the key of its authTable {3} is {4}",
		"give both the same type")
	AuthIndexCase = newRule("auth-index-casing",
		"index {1} has a group, and the casing of its partition key is {2} where that of {3} is {4}, so that one "+
			"partition could have two owners",
		"add casing: NONE to the index")
	AuthIndexKey = newRule("auth-index-key",
		"index {1} has a group, but its partition key names no owner: it is {2}",
		"index one ID or String, or put @auth on the type")
	TimeType = newRule("time-type",
		"is @{1} and no DateTime",
		"make it DateTime")
	TimeTwice = newRule("time-twice",
		"is a second @{1}, the first is {2}",
		"keep one of them")
	TimeKey = newRule("time-key",
		"is @{1} and part of the primary key",
		"use another field")
	TimeClash = newRule("time-clash",
		"is @{1} and @{2}",
		"keep one of them")
)
