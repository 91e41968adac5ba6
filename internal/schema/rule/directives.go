package rule

// How directives are applied.
var (
	UnknownDirective = newRule("unknown-directive",
		"there is no directive @{1}{2}",
		"correct its name, or remove it")
	MisplacedSchema = newRule("other-schema",
		"@{1} belongs in the schema of the {2}",
		"remove it here")
	WrongPlace = newRule("wrong-place",
		"@{1} cannot stand on {2}",
		"move it to {3}")
	RepeatedDirective = newRule("repeated-directive",
		"@{1} stands here a second time",
		"keep one of them")
	UnknownArgument = newRule("unknown-argument",
		"@{1} has no argument {2}{4}",
		"it takes {3}")
	MissingArgument = newRule("missing-argument",
		"@{1} lacks its argument {2}",
		"add {2}: …")
	RepeatedArgument = newRule("repeated-argument",
		"@{1} has its argument {2} a second time",
		"keep one of them")
	NullArgument = newRule("null-argument",
		"the argument {2} of @{1} is null",
		"give it a value, or leave it out where it may be left out")
	ArgumentType = newRule("argument-type",
		"the argument {2} of @{1} is {3}, wanted {4}",
		"write {2}: {5}")
	ArgumentValue = newRule("argument-value",
		"the argument {2} of @{1} knows no {3}{5}",
		"write one of {4}")
	UnknownMember = newRule("unknown-member",
		"the argument {2} of @{1} holds {3}, which it does not know{5}",
		"it takes {4}")
	MissingMember = newRule("missing-member",
		"the argument {2} of @{1} lacks {3}",
		"add {3}: …")
	EmptyList = newRule("empty-list",
		"the list {2} of @{1} is empty",
		"name at least one, or leave the argument out where it may be left out")
	EmptyText = newRule("empty-text",
		"the argument {2} of @{1} holds an empty text",
		"give it a value, or leave it out where it may be left out")
	RepeatedValue = newRule("repeated-value",
		"the list {2} of @{1} holds {3} twice",
		"keep one of them")
)
