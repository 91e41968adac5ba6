package eventlog

import (
	"fmt"
	"strconv"
)

// VersionAttribute is the extension attribute of an event that holds the version of its data.
const VersionAttribute = "dataversion"

// DataVersion returns the version of the data, as the schema of the events counts them: 1 for an event that says none.
func (e *Event) DataVersion() (int, error) {
	text, given := e.Extensions[VersionAttribute]
	if !given {
		return 1, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("attribute %s is %.100q: want a whole number, 1 for the first version", VersionAttribute, text)
	}
	return int(n), nil
}

// UnknownVersionError is of an event whose data are of a version that the program does not know: it is older than they
// are.
type UnknownVersionError struct {
	Type    string // of the event
	Version int    // of its data
	Known   int    // the last one that the program knows
}

// Error implements error.
func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("the data are of version %d, and this program knows %s up to version %d",
		e.Version, e.Type, e.Known)
}

// CheckEvent decodes the data of an event of the type as what they are by their version, and returns what Check of that
// version does. Its error can also be an *UnknownVersionError, or say what is wrong with the version.
func (t *Type) CheckEvent(e *Event) (undeclared []string, err error) {
	version, err := e.DataVersion()
	switch {
	case err != nil:
		return nil, err
	case version <= len(t.Former):
		return t.Former[version-1](e.Data)
	case version > len(t.Former)+1:
		return nil, &UnknownVersionError{Type: t.Name, Version: version, Known: len(t.Former) + 1}
	}
	return t.Check(e.Data)
}
