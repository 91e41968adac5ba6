package schema

import "regexp"

var (
	namePattern      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	projectorPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	tablePattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
)

var keyNamePattern = regexp.MustCompile(`^[!-"$&-~]{1,128}$`) // printable, neither # nor %
