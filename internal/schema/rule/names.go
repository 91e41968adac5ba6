package rule

// Names that are made of others.
var (
	QueryTaken = newRule("query-taken",
		"makes the query {1}, which {2} makes as well",
		"rename the type, the index or the plugin of one of them")
	ArgumentTaken = newRule("query-argument",
		"makes the argument {1} of query {2}, in which the name {3} is taken",
		"rename the field")
	TypeTaken = newRule("type-taken",
		"makes the type {1}, which {2}",
		"rename one of them")
	GoName = newRule("go-name",
		"{1} has no Go name",
		"begin with a letter")
	GoAlike = newRule("go-alike",
		"{1} becomes the Go name {2}, which is that of {3} but for case and underscores",
		"rename one of them")
	GoTaken = newRule("go-taken",
		"{1} becomes the Go name {2}, which is that of {3}",
		"rename one of them")
	RelayID = newRule("relay-id",
		"is called {1}, as the global identifier of a row",
		otherRelayID)
	RelayMerges = newWarning("relay-merges",
		"is called {1}, by which Relay tells apart all that it keeps, and is no global identifier: to Relay, objects of "+
			"any types with one value are one",
		otherRelayID)
	RelayTaken = newRule("relay-taken",
		"{1} has a name that the API for clients of Relay needs",
		"rename it, or take foldql.relay out of gqlgen.yml")
)

const otherRelayID = "rename it, or call the identifier otherwise, with foldql.relayId in gqlgen.yml and getDataID " +
	"in Relay's environment"
