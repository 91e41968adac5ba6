package draft

import "regexp"

// What the schema may call queries and plugins, projectors, and tables.
var (
	NamePattern      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	ProjectorPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	TablePattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
)

// IndexPattern is what DynamoDB calls indexes by.
var IndexPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// KeyNamePattern is what stands for a kind of items in keys: printable ASCII, but neither # nor %.
var KeyNamePattern = regexp.MustCompile(`^[!-"$&-~]{1,128}$`)
