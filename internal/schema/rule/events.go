package rule

// Events.
var (
	EventKind = newRule("event-kind",
		"is {1}; events are object types, enums and the scalars that are there",
		"make it a type, or remove it")
	EventAbstract = newRule("event-field",
		"holds {1}",
		"use a scalar, an enum, an object type or a list of them")
	EventArguments = newRule("event-arguments",
		"has arguments; a field of an event takes none",
		"remove them")
	EventImplements = newRule("event-implements",
		"implements an interface",
		"remove \"implements {1}\"")
	EventCycle = newRule("event-cycle",
		"always contains {1} again: {2}",
		"let it be null, or make it a list")
	EventUnused = newWarning("event-unused",
		"is part of no event",
		"name it in the events of a read model, or remove it")
	TagType = newRule("tag-type",
		"is a tag and {1}",
		"tag a field that holds one value")
	TagNested = newRule("tag-nested",
		"is a tag inside of an object; tags are fields of the event itself",
		"tag a field of the event")
	TagTwice = newRule("tag-twice",
		"is @partitionTag and @tag; the first says both",
		"drop @tag")
	TwoPartitions = newRule("two-partition-tags",
		"is a second @partitionTag, the first is {1}",
		"keep one, and mark the other @tag")
	TagExcludes = newWarning("tag-excludes",
		"never takes the event {1}, which has no tag {2}",
		"tag the field in {1} as well, or leave the event out")
)

// Events of former times.
var (
	DefaultValue = newRule("default-value",
		"has a default that no event could have: {1}",
		"write a value of type {2}")
	DefaultNullable = newRule("default-nullable",
		"has a default and may be null; a field that is null counts as one that is not there, and has the default",
		"make it {1}!, or remove @default")
	WasName = newRule("was-name",
		"cannot have been called {1}",
		"name it as the schema had it, in letters, digits and _")
	WasTaken = newRule("was-taken",
		"was called {1}, which names {2} too",
		"keep a name for one of them; what took over the name of another needs a name of its own")
	WasInside = newRule("was-inside",
		"is inside of events, which do not hold its name",
		"remove @was; or add @event, if it is an event as well")
	RetiredInside = newRule("retired-inside",
		"is retired, and {1} holds it",
		"remove @retired: what is inside of events goes when no event has it")
	VersionNumber = newRule("version-number",
		"has the version {1}; the first is 1",
		"count from 1, or remove @version for the first")
	VersionInside = newRule("version-inside",
		"is inside of events, which say no version of it",
		"remove @version, and raise that of the events that hold it")
	VersionRetired = newRule("version-retired",
		"is retired, and its data are not read",
		"remove @version")
	TakesRetired = newRule("takes-retired",
		"takes the event {1}, which is retired",
		"leave it out of the events, or remove @retired from {1}")
)

// What a log may have, as events.lock remembers it.
var (
	LockMissing = newRule("lock-missing",
		"is required, and events that a log may have lack it",
		"add @default(value: …), let it be null, or name with @was(name: …) what it was called; or raise the event {1} to "+
			"@version(n: {2}), and write an upcaster; if no log has such events yet, take type {1} out of events.lock")
	LockRemoved = newRule("lock-removed",
		"was removed before, is required now, and events that a log may have lack it, or have null",
		"add @default(value: …), or let it be null; or raise the event {4} to @version(n: {5}), and write an upcaster; if "+
			"no log has an event without it, or with null, write {1}: {2} into type {3} of events.lock, in place of "+
			"@removed(field: \"{1}\", …)")
	LockType = newRule("lock-type",
		"had the type {1} before, and values of that do not all fit {2}",
		"keep {1}, and add a field of another name, with @default(value: …) or nullable; or raise the event {3} to "+
			"@version(n: {4}), and write an upcaster; if no log has such events yet, take type {3} out of events.lock")
	LockEnum = newRule("lock-enum",
		"could be {1}, which is no value of {2} any more, and a log may have it",
		"keep the value in {2}; or raise the event {3} to @version(n: {4}), and write an upcaster")
	LockObject = newRule("lock-object",
		"takes the name of the removed field {1}, whose objects {2}, and do not all fit {3}",
		"call it otherwise; or raise the event {4} to @version(n: {5}), and write an upcaster; if no log has such events "+
			"yet, take type {4} out of events.lock")
	LockGone = newRule("lock-gone",
		"is the name of an event that the schema does not have any more, and a log may have events of it",
		"declare it with @retired, or add @was(name: \"{1}\") to what it is called now; if no log has any, take it out of "+
			"this file")
	LockName = newRule("lock-name",
		"was called {1}, and events that a log may have go by that name",
		"add @was(name: \"{1}\") again")
	LockRetired = newRule("lock-retired",
		"was retired, and what events of that time hold is not remembered",
		"give what is declared now another name, and keep {1} @retired")
	LockHeld = newRule("lock-held",
		"was an event, and is none now that {1} holds it and no read model takes it; a log may have events of it",
		"add @event; if no log has any, take type {2} out of events.lock")
	LockVersionUnknown = newRule("lock-version-unknown",
		"has version {1}, and what its data were before is not known",
		"restore events.lock, which remembers it; an event that no log has yet needs no @version")
	LockVersionSkipped = newRule("lock-version-skipped",
		"has version {1}, and the last one was {2}",
		"raise it to @version(n: {3}), and generate")
	LockVersionLower = newRule("lock-version-lower",
		"has version {1}, and a log may have events of version {2}",
		"restore @version(n: {2}); to go back to what the data were, raise it to @version(n: {3}), and write an upcaster")
	LockFormer = newRule("lock-former",
		"is what the event {1} was in version {2}, and was changed here; events of that version in a log did not change",
		"restore events.lock, as with git checkout; to change the event, raise its @version and write an upcaster")
	LockFormerGone = newRule("lock-former-gone",
		"has version {1}, and what its data were in version {2} is missing",
		"restore events.lock, as with git checkout")
	LockVersionJoined = newRule("lock-version-joined",
		"was {1}, which is another event of events.lock, and has version {2}: events of {1} would be read as those of a "+
			"version that they never were",
		"keep {1} an event of its own, with @retired where nobody writes it any more; or, before the first @version, add "+
			"@was(name: \"{1}\"), generate, and raise it then")
	LockVersionName = newRule("lock-version-name",
		"has several versions, for one of which the generated code needs the name {1}; the {2} has it in Go",
		"call the {2} otherwise")
)
