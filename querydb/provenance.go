package querydb

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/notetable"
)

// Where tables are created, lost and restored by others, each table that a fold writes to has a mark: a random text in
// the table itself. The mark is on record among the notes, with the ID of the table that held the notes then. So rows
// are never taken for those that the notes are about where the notes were lost and begun again, or where notes and rows
// are of different times.

// mark is the value of a note of generation.KindMark.
type mark struct {
	Text  string `json:"mark"`
	Notes string `json:"notes"` // ID of the table of notes when the mark was recorded
}

// Provenance says whether the rows of a table are those that the notes are about. It compares the mark in the table, a
// random text that a fold puts there before its first row, with the mark on record among the notes.
type Provenance uint8

// What is known of the rows of a table.
const (
	// ProvenanceRecorded: they are those that the notes are about, or the store has no marks.
	ProvenanceRecorded Provenance = iota
	// ProvenanceUnmarked: there is no mark in the table, and none on record.
	ProvenanceUnmarked
	// ProvenanceMarkLost: the table has lost the mark that is on record, and with it its rows.
	ProvenanceMarkLost
	// ProvenanceNotesReplaced: the notes are in another table than when the mark was recorded, so they may be older than
	// the rows.
	ProvenanceNotesReplaced
	// ProvenanceUnknown: the mark in the table is not on record.
	ProvenanceUnknown
)

// UnknownRowsError says that a table in which a generation is to begin already holds rows, of a fold that is not on
// record: the notes were lost, or are of another time. It matches ErrUnavailable.
type UnknownRowsError struct{ Table string }

// Error implements error.
func (e *UnknownRowsError) Error() string {
	return fmt.Sprintf("table %s holds rows of a fold that is not on record: the table of notes, %s, was lost or "+
		"is of another time, so nothing is folded into these rows, nor are they served", e.Table, notetable.Name)
}

// Is reports whether target is ErrUnavailable.
func (e *UnknownRowsError) Is(target error) bool { return target == ErrUnavailable }

// Identity is which table a store has for a generation, and whose rows are in it.
type Identity struct {
	// ID distinguishes the table from one that is recreated in its place, or restored from a backup. It is "" where there
	// is no such table, and on a store without IDs.
	ID         string
	Provenance Provenance
}

// Identify finds out which tables the store has for generations of the models' tables, and compares their marks with
// those on record. The answer is aligned with the models and numbers of generations. On a store without marks all rows
// are those on record.
func (ts *Tables) Identify(ctx context.Context, models []*Model, generations []int) ([]Identity, error) {
	all := make([]Identity, len(models))
	identifier, ok := ts.drv.(driver.Identifier)
	if !ok {
		return all, nil
	}
	var distinct []*driver.Table
	at, of := map[string]int{}, make([]int, len(models)) // in distinct, by names of tables and aligned with the models
	for i, m := range models {
		t := m.DriverTable(generations[i])
		n, again := at[generation.NoteID(t)]
		if !again {
			n = len(distinct)
			at[generation.NoteID(t)], distinct = n, append(distinct, t)
		}
		of[i] = n
	}
	found, err := ts.identify(ctx, identifier, distinct)
	if err != nil {
		return nil, &Error{Op: "identify tables", Err: err}
	}
	for i, n := range of {
		all[i] = found[n]
	}
	return all, nil
}

// identify is Identify for distinct tables. Marks are put on record before they are put into tables, so those in the
// tables are read first.
func (ts *Tables) identify(
	ctx context.Context, identifier driver.Identifier, tables []*driver.Table,
) ([]Identity, error) {
	ids, err := identifier.TableIDs(ctx, slices.Concat(tables, []*driver.Table{notetable.Table}))
	if err != nil {
		return nil, err
	}
	marks, err := identifier.Marks(ctx, tables)
	if err != nil {
		return nil, err
	}
	of := make([]keys.Key, len(tables))
	for i, t := range tables {
		of[i] = markKey(t)
	}
	notes, err := ts.notes.GetAll(ctx, of)
	if err != nil {
		return nil, err
	}
	all := make([]Identity, len(tables))
	for i, t := range tables {
		recorded, err := parseMark(t, &notes[i])
		if err != nil {
			return nil, err
		}
		all[i] = Identity{ID: ids[i], Provenance: provenanceOf(marks[i], recorded, ids[len(tables)])}
	}
	return all, nil
}

// provenanceOf compares the mark that a table has with the one on record, where there is any, and the table that had
// the notes then with the one that has them now.
func provenanceOf(has string, recorded *mark, notes string) Provenance {
	switch {
	case has == "" && recorded == nil:
		return ProvenanceUnmarked
	case recorded == nil || has != "" && has != recorded.Text:
		return ProvenanceUnknown
	case notes != recorded.Notes:
		return ProvenanceNotesReplaced
	case has == "":
		return ProvenanceMarkLost
	}
	return ProvenanceRecorded
}

// recordedMark reads the mark on record, nil where there is none.
func (ts *Tables) recordedMark(ctx context.Context, t *driver.Table) (*mark, Note, error) {
	k := markKey(t)
	n, err := ts.notes.Get(ctx, k.PK, k.SK)
	if err != nil {
		return nil, n, err
	}
	m, err := parseMark(t, &n)
	return m, n, err
}

// markKey is the kind and ID of the note of a table's mark.
func markKey(t *driver.Table) keys.Key {
	return keys.Key{PK: generation.KindMark, SK: generation.NoteID(t)}
}

// parseMark is what the note says, nil where there is none.
func parseMark(t *driver.Table, n *Note) (*mark, error) {
	if n.Value == nil {
		return nil, nil
	}
	var m mark
	if err := json.Unmarshal(n.Value, &m); err != nil {
		return nil, fmt.Errorf("read the mark of table %s: %w", generation.PhysicalName(t), err)
	}
	return &m, nil
}

// Mark puts a random text into a generation of the model's table, and the same text on record among the notes, so that
// Provenance can tell whether the rows are those that the notes are about. It is for a table that an earlier version
// has begun, without a mark; Generations.Begin marks those that it begins.
func (ts *Tables) Mark(ctx context.Context, m *Model, generation int) error {
	return ts.mark(ctx, m, generation, false)
}

// mark records a mark and puts it into the table; where that was interrupted, it continues with the recorded one. A
// fresh table must hold no rows of a fold.
func (ts *Tables) mark(ctx context.Context, m *Model, number int, fresh bool) error {
	identifier, ok := ts.drv.(driver.Identifier)
	if !ok {
		return nil
	}
	t := m.DriverTable(number)
	if fresh {
		if err := ts.CheckUnknownRows(ctx, m, number); err != nil {
			return err
		}
	}
	recorded, n, err := ts.recordedMark(ctx, t)
	if err == nil && recorded == nil {
		recorded, err = ts.recordMark(ctx, identifier, n)
	}
	has := ""
	if err == nil {
		has, err = identifier.SetMark(ctx, t, recorded.Text)
	}
	if err == nil && has != recorded.Text {
		err = &UnknownRowsError{generation.PhysicalName(t)}
	}
	if err != nil {
		return &Error{Op: "mark the table of", Model: m.Name, Err: err}
	}
	return nil
}

func (ts *Tables) recordMark(ctx context.Context, identifier driver.Identifier, n Note) (*mark, error) {
	ids, err := identifier.TableIDs(ctx, []*driver.Table{notetable.Table})
	if err != nil {
		return nil, err
	}
	m := &mark{Text: rand.Text(), Notes: ids[0]}
	if n.Value, err = json.Marshal(m); err != nil {
		return nil, err
	}
	n.IfRevision = true
	return m, ts.notes.write(ctx, n)
}

// CheckUnknownRows returns an *UnknownRowsError where the table of a generation that is to begin already holds rows, of
// a fold that is not on record.
func (ts *Tables) CheckUnknownRows(ctx context.Context, m *Model, number int) error {
	identifier, ok := ts.drv.(driver.Identifier)
	if !ok {
		return nil
	}
	t := m.DriverTable(number)
	unknown, err := ts.holdsUnknownRows(ctx, identifier, t)
	if err == nil && unknown {
		err = &UnknownRowsError{generation.PhysicalName(t)}
	}
	if err != nil {
		return &Error{Op: "begin the table of", Model: m.Name, Err: err}
	}
	return nil
}

// holdsUnknownRows reports whether the table holds rows of a fold that is not on record, also of an earlier version,
// which made no marks.
func (ts *Tables) holdsUnknownRows(
	ctx context.Context, identifier driver.Identifier, t *driver.Table,
) (bool, error) {
	at, err := ts.identify(ctx, identifier, []*driver.Table{t})
	if err != nil {
		return false, err
	}
	if p := at[0].Provenance; p != ProvenanceUnmarked {
		return p == ProvenanceUnknown || p == ProvenanceNotesReplaced, nil
	}
	return identifier.HoldsRows(ctx, t)
}
