package schema

// Rows with several writers.
var (
	writerIncomplete = newRule("writer-incomplete",
		"has several writers, and this one has no {1}",
		"add {1}: …")
	writerConflict = newRule("writer-conflict",
		"gives another {1} than an annotation before",
		"give it once; it holds for the row")
	writesUnknown = newRule("writes-unknown",
		"projector {1} writes {2}, which is no stored field of the type",
		"name stored fields")
	writesKey = newRule("writes-key",
		"is part of the primary key, and projector {1} writes it",
		"leave it out: whoever writes the row names it by its key")
	writesTwice = newRule("writes-twice",
		"is written by the projectors {1} and {2}",
		"let one of them write it")
	unwritten = newRule("unwritten",
		"is written by no projector",
		"name it in writes of one of them")
	writesNullable = newRule("writes-nullable",
		"cannot be null, and a row may be there before projector {1} writes it",
		"drop the \"!\"")
	halfOwners = newRule("half-owners",
		"is in the {1} of index {2}; it is written by projector {3}, and {4}, which is in it too, by {5}",
		"compose each half of an index of one projector's fields")
)
