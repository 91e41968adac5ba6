package rule

// Rows with several writers.
var (
	WriterIncomplete = newRule("writer-incomplete",
		"has several writers, and this one has no {1}",
		"add {1}: …")
	WriterConflict = newRule("writer-conflict",
		"gives another {1} than an annotation before",
		"give it once; it holds for the row")
	WritesUnknown = newRule("writes-unknown",
		"projector {1} writes {2}, which is no stored field of the type",
		"name stored fields")
	WritesKey = newRule("writes-key",
		"is part of the primary key, and projector {1} writes it",
		"leave it out: whoever writes the row names it by its key")
	WritesTwice = newRule("writes-twice",
		"is written by the projectors {1} and {2}",
		"let one of them write it")
	Unwritten = newRule("unwritten",
		"is written by no projector",
		"name it in writes of one of them")
	TimeUnwritten = newRule("time-unwritten",
		"is @{1}, the time of an event by which a projector wrote the row, and stands in writes of none",
		"name it in writes of the projector whose events it is about: those of others do not change it")
	WritesNullable = newRule("writes-nullable",
		"cannot be null, and a row may be there before projector {1} writes it",
		"drop the \"!\"")
	HalfOwners = newRule("half-owners",
		"is in the {1} of index {2}; it is written by projector {3}, and {4}, which is in it too, by {5}",
		"compose each half of an index of one projector's fields")
)
