package querydb

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// Where others make, lose and restore tables, each that a fold writes to has a mark: a random text in the table
// itself. It is on record among the notes, with the identity of the table that these were in. So rows are not taken
// for those of the notes beside them where the notes were lost and begun anew, or are of an earlier time than the
// rows.

// kindMark is the kind of the notes of marks; the ID is that of the table's generation: see dropID.
const kindMark = "mark"

// mark is such a note.
type mark struct {
	Text  string `json:"mark"`
	Notes string `json:"notes"` // identity of the table of notes when the mark was noted
}

// Provenance is what the mark of a table says of whose rows it holds.
type Provenance uint8

// The states of a table.
const (
	// ProvenanceRecorded: the mark of the table is on record, or the store has no marks.
	ProvenanceRecorded Provenance = iota
	// ProvenanceUnmarked: there is none in the table, and none on record.
	ProvenanceUnmarked
	// ProvenanceMarkLost: there is none in the table any more, and one on record.
	ProvenanceMarkLost
	// ProvenanceNotesReplaced: the notes are in another table than when the mark was noted, so they may be older than the
	// rows.
	ProvenanceNotesReplaced
	// ProvenanceUnknown: the mark of the table is not on record.
	ProvenanceUnknown
)

// UnknownRowsError says that a table which is to be begun holds rows already, of a fold that is not on record. It
// matches ErrUnavailable.
type UnknownRowsError struct{ Table string }

// Error implements error.
func (e *UnknownRowsError) Error() string {
	return fmt.Sprintf("table %s holds rows of a fold that is not on record: the table of notes, %s, was lost or "+
		"is of another "+
		"time, so nothing is folded into these rows, nor are they served: restore the notes; or stop all servers and run "+
		"'server tables apply --notes-lost', which rebuilds into other tables", e.Table, notesTable)
}

// Is makes the error one of ErrUnavailable.
func (e *UnknownRowsError) Is(target error) bool { return target == ErrUnavailable }

// MarkState compares the mark of a generation of the model's table with what is on record.
func (db *DB) MarkState(ctx context.Context, m *Model, generation int) (Provenance, error) {
	tells, ok := db.drv.(driver.Identifier)
	if !ok {
		return ProvenanceRecorded, nil
	}
	o, err := db.ownership(ctx, tells, m.shape(generation))
	if err != nil {
		return o, &Error{Op: "read the mark of the table of", Model: m.Name, Err: err}
	}
	return o, nil
}

func (db *DB) ownership(ctx context.Context, tells driver.Identifier, t *driver.Table) (Provenance, error) {
	has, err := tells.Mark(ctx, t)
	if err != nil {
		return ProvenanceUnknown, err
	}
	noted, _, err := db.notedMark(ctx, t)
	if err != nil {
		return ProvenanceUnknown, err
	}
	switch {
	case has == "" && noted == nil:
		return ProvenanceUnmarked, nil
	case noted == nil || has != "" && has != noted.Text:
		return ProvenanceUnknown, nil
	}
	now, err := tells.TableID(ctx, notes)
	switch {
	case err != nil:
		return ProvenanceUnknown, err
	case now != noted.Notes:
		return ProvenanceNotesReplaced, nil
	case has == "":
		return ProvenanceMarkLost, nil
	}
	return ProvenanceRecorded, nil
}

// notedMark reads the mark on record, nil where there is none.
func (db *DB) notedMark(ctx context.Context, t *driver.Table) (*mark, Note, error) {
	n, err := db.Note(ctx, kindMark, dropID(t))
	if err != nil || n.Value == nil {
		return nil, n, err
	}
	var m mark
	if err := json.Unmarshal(n.Value, &m); err != nil {
		return nil, n, fmt.Errorf("read the mark of table %s: %w", physical(t), err)
	}
	return &m, n, nil
}

// MarkTable marks a generation of the model's table that rows are on record of, and that an earlier version has begun.
func (db *DB) MarkTable(ctx context.Context, m *Model, generation int) error {
	return db.mark(ctx, m, generation, false)
}

// mark notes a mark, and puts it into the table: whoever is interrupted goes on with the one that is noted. A fresh
// table must hold no rows of a fold.
func (db *DB) mark(ctx context.Context, m *Model, generation int, fresh bool) error {
	tells, ok := db.drv.(driver.Identifier)
	if !ok {
		return nil
	}
	t := m.shape(generation)
	if fresh {
		if err := db.CheckUnrecorded(ctx, m, generation); err != nil {
			return err
		}
	}
	noted, n, err := db.notedMark(ctx, t)
	if err == nil && noted == nil {
		noted, err = db.noteMark(ctx, tells, n)
	}
	has := ""
	if err == nil {
		has, err = tells.SetMark(ctx, t, noted.Text)
	}
	if err == nil && has != noted.Text {
		err = &UnknownRowsError{physical(t)}
	}
	if err != nil {
		return &Error{Op: "mark the table of", Model: m.Name, Err: err}
	}
	return nil
}

func (db *DB) noteMark(ctx context.Context, tells driver.Identifier, n Note) (*mark, error) {
	id, err := tells.TableID(ctx, notes)
	if err != nil {
		return nil, err
	}
	m := &mark{Text: rand.Text(), Notes: id}
	if n.Value, err = json.Marshal(m); err != nil {
		return nil, err
	}
	n.IfRevision = true
	return m, db.Apply(ctx, Batch{Notes: []Note{n}})
}

// foreign reports whether the table holds rows of a fold that is not on record, also of an earlier version, which
// made no marks.
func (db *DB) foreign(ctx context.Context, tells driver.Identifier, t *driver.Table) (bool, error) {
	o, err := db.ownership(ctx, tells, t)
	if err != nil || o != ProvenanceUnmarked {
		return o == ProvenanceUnknown || o == ProvenanceNotesReplaced, err
	}
	return tells.HoldsRows(ctx, t)
}

// CheckUnrecorded returns an *UnknownRowsError where the generation of the model's table, which is to be begun, holds
// rows of a fold that is not on record.
func (db *DB) CheckUnrecorded(ctx context.Context, m *Model, generation int) error {
	tells, ok := db.drv.(driver.Identifier)
	if !ok {
		return nil
	}
	t := m.shape(generation)
	foreign, err := db.foreign(ctx, tells, t)
	if err == nil && foreign {
		err = &UnknownRowsError{physical(t)}
	}
	if err != nil {
		return &Error{Op: "begin the table of", Model: m.Name, Err: err}
	}
	return nil
}

// mostForeign is how many tables SkipUnrecorded skips.
const mostForeign = 50

// SkipUnrecorded puts on record that generations which hold rows of a fold that is not on record were followed by
// others: the next one that is begun after g is the first that does not. FormerGenerations lists them from then on.
func (db *DB) SkipUnrecorded(ctx context.Context, m *Model, g Generation) error {
	var list []Note
	next := g.Next()
	for ; ; next++ {
		err := db.CheckUnrecorded(ctx, m, next)
		var unrecorded *UnknownRowsError
		if err == nil {
			break
		}
		if !errors.As(err, &unrecorded) || len(list) == mostForeign {
			return err
		}
		list = append(list, Note{Kind: kindDrop, ID: dropID(m.shape(next)), Value: []byte{}})
	}
	if len(list) == 0 {
		return nil
	}
	list = append(list, Note{
		Kind: kindGeneration, ID: m.Table, Value: []byte(strconv.Itoa(next - 1)), IfRevision: true, Revision: g.revision,
	})
	if err := db.Apply(ctx, Batch{Notes: list}); err != nil {
		return &Error{Op: "pass over tables of", Model: m.Name, Err: err}
	}
	return nil
}

// physical is the name of a generation's table as the store has it, but for what may stand before it.
func physical(t *driver.Table) string { return strings.TrimSuffix(dropID(t), ".g0") }
