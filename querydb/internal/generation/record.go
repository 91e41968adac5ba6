package generation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// Kinds of the notes about generations.
const (
	Kind     = "generation" // ID is the table, the value the number that serves, without a note 0
	KindDrop = "drop"       // ID names a former generation that is being removed: see NoteID
	KindMark = "mark"       // ID names a generation: see NoteID
)

// Format makes the value of a note of [Kind]. The version is that of the models that the generation is begun for, ""
// where one projection writes the table.
func Format(number int, version string) []byte {
	if version == "" {
		return []byte(strconv.Itoa(number))
	}
	return []byte(strconv.Itoa(number) + " " + version)
}

// Parse reads what Format has made.
func Parse(value []byte) (number int, version string, err error) {
	text, version, _ := strings.Cut(string(value), " ")
	number, err = strconv.Atoi(text)
	return number, version, err
}

// NoteID is the ID of notes about one generation of a table.
func NoteID(t *driver.Table) string { return t.Name + ".g" + strconv.Itoa(t.Generation) }

// ParseNoteID returns the table that a NoteID names, with Name and Generation alone.
func ParseNoteID(id string) (*driver.Table, error) {
	at := strings.LastIndex(id, ".g")
	if at < 0 {
		return nil, fmt.Errorf("%q does not name a generation of a table", id)
	}
	generation, err := strconv.Atoi(id[at+2:])
	if err != nil {
		return nil, fmt.Errorf("%q does not name a generation of a table", id)
	}
	return &driver.Table{Name: id[:at], Generation: generation}, nil
}

// PhysicalName is the name of a generation's table as the store has it, without the prefix that a store may add.
func PhysicalName(t *driver.Table) string { return strings.TrimSuffix(NoteID(t), ".g0") }
