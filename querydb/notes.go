package querydb

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Note is a small named record beside the rows: a checkpoint, a dead letter, a secret. Notes of one Kind are
// ordered by the bytes of ID. A nil Value deletes the note.
type Note struct {
	Kind  string
	ID    string
	Value []byte
	// Revision is, on a MultiWriter store, how often the note was written. IfRevision says that the change was made of the
	// note at that revision, 0 for none: where it has another by now, nothing of the notes is written, and the answer is
	// ErrStale.
	Revision   uint64
	IfRevision bool
	// CheckOnly says that nothing is written, and the note, which is IfRevision, must still have the Revision. A store
	// that is not MultiWriter has one writer, and passes over it.
	CheckOnly bool
}

// notesTable is the name of the table that the notes of all projections, and ours, are rows of: Kind is the partition,
// ID the sort key, and the value one string field, in base64 because it may be any bytes.
const notesTable = "foldql"

var notes = &driver.Table{
	Name: notesTable, Sorted: true,
	Fields: []Field{{Name: "kind", Scalar: "String"}, {Name: "id", Scalar: "String"}, {Name: "value", Scalar: "String"}},
	PK:     []int{0}, SK: []int{1}, NoExpiry: true,
}

const noteValue = 2 // ordinal of the value

// ReadNote reads the value of one note; ErrNotFound where there is none.
func (db *DB) ReadNote(ctx context.Context, kind, id string) ([]byte, error) {
	n, err := db.Note(ctx, kind, id)
	if err == nil && n.Value == nil {
		err = noteError("read", keys.Key{PK: kind, SK: id}, ErrNotFound)
	}
	return n.Value, err
}

// Note reads one note; where there is none its Value is nil, and its Revision that of the next write's IfRevision.
func (db *DB) Note(ctx context.Context, kind, id string) (Note, error) {
	k := keys.Key{PK: kind, SK: id}
	n := Note{Kind: kind, ID: id}
	if err := checkKey(k, true); err != nil {
		return n, noteError("read", k, err)
	}
	rows, err := db.drv.Get(ctx, driver.Get{Table: notes, Keys: []keys.Key{k}, Consistent: true})
	if err != nil {
		return n, noteError("read", k, err)
	}
	n.Revision = rows[0].Revision
	if rows[0].Record != nil {
		n.Value, err = decodeNote(&rows[0])
	}
	return n, err
}

// Notes reads up to limit notes of a kind, in order, after the given ID ("" from the beginning).
func (db *DB) Notes(ctx context.Context, kind, after string, limit int) ([]Note, error) {
	k := keys.Key{PK: kind, SK: after}
	q := driver.Query{Table: notes, Index: driver.Primary, PK: kind, Limit: limit, Consistent: true}
	if after != "" {
		q.Start = &keys.Cursor{Key: k}
	}
	if err := checkQuery(notes, &Query{Index: q.Index, PK: kind, Limit: limit}); err != nil {
		return nil, noteError("list", k, err)
	}
	page, err := db.drv.Query(ctx, q)
	if err != nil {
		return nil, noteError("list", k, err)
	}
	out := make([]Note, len(page.Rows))
	for i := range page.Rows {
		row := &page.Rows[i]
		value, err := decodeNote(row)
		if err != nil {
			return nil, err
		}
		out[i] = Note{Kind: kind, ID: row.Key.SK, Value: value, Revision: row.Revision}
	}
	return out, nil
}

// noteWrites turns notes into rows.
func noteWrites(list []Note, shared bool) ([]driver.Write, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var b record.Builder
	writes := make([]driver.Write, 0, len(list))
	for _, n := range list {
		if n.CheckOnly && !shared {
			continue
		}
		w := driver.Write{Table: notes, Kind: driver.Delete, Row: Row{Key: keys.Key{PK: n.Kind, SK: n.ID},
			Revision: n.Revision}, IfRevision: n.IfRevision}
		if n.CheckOnly {
			w.Kind = driver.CheckRevision
		} else if n.Value != nil {
			rec, err := encodeNote(&b, n)
			if err != nil {
				return nil, noteError("write", w.Row.Key, err)
			}
			w.Kind, w.Row.Record = driver.Put, rec
		}
		if err := checkRow(notes, &w.Row, nil, ""); err != nil {
			return nil, noteError("write", w.Row.Key, err)
		}
		writes = append(writes, w)
	}
	return writes, nil
}

func encodeNote(b *record.Builder, n Note) (record.Record, error) {
	b.Begin(len(notes.Fields))
	b.String(n.Kind)
	b.String(n.ID)
	b.String(base64.RawURLEncoding.EncodeToString(n.Value))
	rec, _, err := b.Finish()
	return rec, err
}

func decodeNote(row *Row) ([]byte, error) {
	if !row.Record.Valid() || row.Record.Len() != len(notes.Fields) {
		return nil, noteError("read", row.Key, fmt.Errorf("the stored note is damaged"))
	}
	text, ok := record.String(row.Record.JSON(noteValue))
	if !ok {
		return nil, noteError("read", row.Key, fmt.Errorf("the stored note is damaged"))
	}
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, noteError("read", row.Key, fmt.Errorf("the stored note is damaged: %w", err))
	}
	return value, nil
}

func noteError(op string, k keys.Key, err error) error {
	return &Error{Op: op + " note", Key: driver.PrintableKey(k), Err: err}
}
