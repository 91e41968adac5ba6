package schema

// How directives are applied.
var (
	unknownDirective = newRule("unknown-directive",
		"there is no directive @{1}{2}",
		"correct its name, or remove it")
	misplacedSchema = newRule("other-schema",
		"@{1} belongs in the schema of the {2}",
		"remove it here")
	relationDirective = newRule("relation-directive",
		"there is no @{1}: no read model is assembled of others",
		"remove it, and join with @resolves or @resolvesMany, or read entities together as a collection")
	wrongPlace = newRule("wrong-place",
		"@{1} cannot stand on {2}",
		"move it to {3}")
	repeatedDirective = newRule("repeated-directive",
		"@{1} stands here a second time",
		"keep one of them")
	unknownArgument = newRule("unknown-argument",
		"@{1} has no argument {2}{4}",
		"it takes {3}")
	missingArgument = newRule("missing-argument",
		"@{1} lacks its argument {2}",
		"add {2}: …")
	repeatedArgument = newRule("repeated-argument",
		"@{1} has its argument {2} a second time",
		"keep one of them")
	nullArgument = newRule("null-argument",
		"the argument {2} of @{1} is null",
		"give it a value, or leave it out where it may be left out")
	argumentType = newRule("argument-type",
		"the argument {2} of @{1} is {3}, wanted {4}",
		"write {2}: {5}")
	argumentValue = newRule("argument-value",
		"the argument {2} of @{1} knows no {3}{5}",
		"write one of {4}")
	unknownMember = newRule("unknown-member",
		"the argument {2} of @{1} holds {3}, which it does not know{5}",
		"it takes {4}")
	missingMember = newRule("missing-member",
		"the argument {2} of @{1} lacks {3}",
		"add {3}: …")
	emptyList = newRule("empty-list",
		"the list {2} of @{1} is empty",
		"name at least one, or leave the argument out where it may be left out")
	emptyText = newRule("empty-text",
		"the argument {2} of @{1} holds an empty text",
		"give it a value, or leave it out where it may be left out")
	repeatedValue = newRule("repeated-value",
		"the list {2} of @{1} holds {3} twice",
		"keep one of them")
)
