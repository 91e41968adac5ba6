package generation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Kinds of the notes about generations.
const (
	// Kind has the table as ID, and as value what Format makes of the generation that serves. Without a note, none does.
	Kind = "generation"
	// KindBeside has the table as ID, and a [Beside]: the generations that there are beside the one that serves.
	KindBeside = "generations beside"
	KindDrop   = "drop" // ID names a former generation that is being removed: see NoteID
	KindMark   = "mark" // ID names a generation: see NoteID
	// KindLayout is the description of the rows of a model in a generation: see LayoutID.
	KindLayout = "layout"
)

// None stands for the number of a generation where there is none: nothing served before the first that was built.
const None = -1

// none is what a note of [Kind] says of a table of which no generation serves any more.
const none = "none"

// Format makes the value of a note of [Kind]. The version is that of the models that the generation is begun for, ""
// where one projection writes the table.
func Format(number int, version string) []byte {
	if number == None {
		return []byte(none)
	}
	if version == "" {
		return []byte(strconv.Itoa(number))
	}
	return []byte(strconv.Itoa(number) + " " + version)
}

// Parse reads what Format has made.
func Parse(value []byte) (number int, version string, err error) {
	if string(value) == none {
		return None, "", nil
	}
	text, version, _ := strings.Cut(string(value), " ")
	number, err = strconv.Atoi(text)
	return number, version, err
}

// NoteID is the ID of notes about one generation of a table.
func NoteID(t *driver.Table) string { return t.Name + ".g" + strconv.Itoa(t.Generation) }

// LayoutID is the ID of the description of a model's rows in a generation of a table, which other models may share.
func LayoutID(t *driver.Table, model string, shared bool) string {
	if !shared {
		return NoteID(t)
	}
	return NoteID(t) + layoutSep + model
}

// layoutSep stands between the generation and the model; no name of a model has it.
const layoutSep = "/"

// IsLayoutOf reports whether the ID is of the description of any model's rows in the generation.
func IsLayoutOf(t *driver.Table, id string) bool {
	rest, of := strings.CutPrefix(id, NoteID(t))
	return of && (rest == "" || strings.HasPrefix(rest, layoutSep))
}

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

// Beside are the generations of a table that do not serve and have rows: the one that is being built, and the one that
// served before and can again.
type Beside struct {
	Last     int       `json:"last"` // the highest number that a generation of the table has had
	Building *Numbered `json:"building,omitempty"`
	Former   *Numbered `json:"former,omitempty"`
	// Aborted is the version of the model whose build was aborted last, "" where one was begun since.
	Aborted string `json:"aborted,omitempty"`
}

// Numbered is a generation, with the version of the models that it was begun for where several projections write the
// table.
type Numbered struct {
	Number  int    `json:"number"` // [None] of a former one where none served
	Version string `json:"version,omitempty"`
	// Held says of one that is being built that it was switched away from: it serves again when somebody asks for it.
	Held bool `json:"held,omitempty"`
	// Since is when another one began to serve in the place of a former one.
	Since time.Time `json:"since,omitzero"`
}

// ParseBeside reads the value of a note of [KindBeside].
func ParseBeside(value []byte) (b Beside, err error) {
	if err := json.Unmarshal(value, &b); err != nil {
		return b, fmt.Errorf("read the generations beside the one that serves: %w", err)
	}
	return b, nil
}

// Format makes the value of a note of [KindBeside].
func (b Beside) Format() []byte {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // numbers and strings have a JSON form
	}
	return text
}
