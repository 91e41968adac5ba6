package draft

import "regexp"

var (
	NamePattern      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	ProjectorPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	TablePattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
)

// IndexPattern is what DynamoDB calls indexes by.
var IndexPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

var KeyNamePattern = regexp.MustCompile(`^[!-"$&-~]{1,128}$`) // printable, neither # nor %
