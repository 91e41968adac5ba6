package querydb

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/background"
	"github.com/foldql/foldql/querydb/internal/counter"
	"github.com/foldql/foldql/querydb/internal/notetable"
	"github.com/foldql/foldql/querydb/internal/page"
	"github.com/foldql/foldql/querydb/internal/validate"
	"github.com/foldql/foldql/querydb/record"
)

// Note is a small named record that foldql keeps beside the rows for itself: a checkpoint, a dead letter, a secret. No
// query of the API shows notes. Those of one Kind are ordered by the bytes of ID. In a batch, a nil Value deletes the
// note.
type Note struct {
	Kind  string
	ID    string
	Value []byte
	// Revision is, on a MultiWriter store, how often the note was written.
	Revision uint64
	// IfRevision makes the write conditional on a MultiWriter store: where the stored note has another Revision than
	// this one, 0 for none, no note of the batch is written, and Apply returns ErrStale.
	IfRevision bool
	// CheckOnly, together with IfRevision, checks the condition and does not write the note. It has no effect on a store
	// with one writer.
	CheckOnly bool
}

// Notes reads the notes of a store: see [Note]. [DB.Apply] writes them.
type Notes struct {
	drv       driver.Driver
	tasks     *background.Tasks
	log       *slog.Logger
	leftovers sync.Once
	dropping  sync.Mutex // held while what is left over is deleted
}

// Value reads the value of one note; ErrNotFound where there is none.
func (n *Notes) Value(ctx context.Context, kind, id string) ([]byte, error) {
	note, err := n.Get(ctx, kind, id)
	if err == nil && note.Value == nil {
		err = noteError("read", keys.Key{PK: kind, SK: id}, ErrNotFound)
	}
	return note.Value, err
}

// Get reads one note; where there is none its Value is nil, and its Revision the one that a conditional write expects.
func (n *Notes) Get(ctx context.Context, kind, id string) (Note, error) {
	notes, err := n.GetAll(ctx, []keys.Key{{PK: kind, SK: id}})
	if err != nil {
		return Note{Kind: kind, ID: id}, err
	}
	return notes[0], nil
}

// GetAll reads notes by their kinds, PK, and IDs, SK, with as few requests as the store allows; of those that are not
// there it says what Get does. The answer is aligned with the keys. It is not of one moment.
func (n *Notes) GetAll(ctx context.Context, all []keys.Key) ([]Note, error) {
	if len(all) == 0 {
		return nil, nil
	}
	for _, k := range all {
		if err := validate.Key(k, true); err != nil {
			return nil, noteError("read", k, err)
		}
	}
	reader := page.Reader{Driver: n.drv}
	rows, err := reader.Get(ctx, &counter.Counters{}, driver.Get{Table: notetable.Table, Keys: all, Consistent: true,
		NoCache: true}) // nearly every commit changes notes
	if err != nil {
		return nil, noteError("read", all[0], err)
	}
	notes := make([]Note, len(all))
	for i, k := range all {
		notes[i] = Note{Kind: k.PK, ID: k.SK, Revision: rows[i].Revision}
		if rows[i].Record == nil {
			continue
		}
		if notes[i].Value, err = decodeNote(&rows[i]); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// List reads up to limit notes of a kind, in order, after the given ID ("" from the beginning).
func (n *Notes) List(ctx context.Context, kind, after string, limit int) ([]Note, error) {
	k := keys.Key{PK: kind, SK: after}
	q := driver.Query{Table: notetable.Table, Index: driver.Primary, PK: kind, Limit: limit, Consistent: true,
		NoCache: true}
	if after != "" {
		q.Start = &keys.Cursor{Key: k}
	}
	if err := validate.Query(&q, nil, 0); err != nil {
		return nil, noteError("list", k, err)
	}
	page, err := n.drv.Query(ctx, q)
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

// DeleteAll deletes all notes of a kind that there are. That is not one commit: where it fails, some may be gone.
func (n *Notes) DeleteAll(ctx context.Context, kind string) error {
	for after := ""; ; {
		notes, err := n.List(ctx, kind, after, MaxPageRows)
		if err != nil || len(notes) == 0 {
			return err
		}
		after = notes[len(notes)-1].ID // from the first on, a store would read again what is gone
		for i := range notes {
			notes[i] = Note{Kind: kind, ID: notes[i].ID}
		}
		writes, err := noteWrites(notes, isMultiWriter(n.drv))
		if err != nil {
			return err
		}
		// One by one, and many at a time, where the store writes so: a transaction would cost twice as much.
		if err := n.drv.Apply(ctx, driver.Batch{Writes: writes}); err != nil {
			return applyError(nil, err)
		}
	}
}

// kindLeftover is that of the notes which say that nobody reads notes of some kinds any more.
const kindLeftover = "leftover"

// LeftoverNote is part of the commit after which nobody reads notes of those kinds any more. Whoever commits it calls
// [Notes.DropLeftover] then; where that fails or is interrupted, the next start does so.
func LeftoverNote(kinds []string) Note {
	value, err := json.Marshal(kinds)
	if err != nil {
		panic("querydb: encode kinds of notes: " + err.Error())
	}
	return Note{Kind: kindLeftover, ID: rand.Text(), Value: value}
}

// DropLeftover begins to delete all notes that a [LeftoverNote] says nobody reads, and then that note. That is done in
// the background, as there may be millions of notes; [DB.Close] interrupts it.
func (n *Notes) DropLeftover(left Note) { n.dropInBackground([]Note{left}) }

// DropLeftovers is [Notes.DropLeftover] of all that are on record; where it has been called before, it does nothing,
// also where that failed. Who folds calls it: others write nothing.
func (n *Notes) DropLeftovers(ctx context.Context) {
	n.leftovers.Do(func() {
		var all []Note
		err := n.each(ctx, kindLeftover, func(left Note) error {
			all = append(all, left)
			return nil
		})
		if n.leftoverFailed(ctx, err); len(all) > 0 {
			n.dropInBackground(all)
		}
	})
}

func (n *Notes) dropInBackground(left []Note) {
	n.tasks.Run(func(ctx context.Context) {
		n.dropping.Lock() // one after the other, since nobody waits for it
		defer n.dropping.Unlock()
		for _, one := range left {
			n.leftoverFailed(ctx, n.drop(driver.InBackground(ctx), one))
		}
	})
}

func (n *Notes) drop(ctx context.Context, left Note) error {
	var kinds []string
	if err := json.Unmarshal(left.Value, &kinds); err != nil {
		return noteError("read", keys.Key{PK: left.Kind, SK: left.ID}, err)
	}
	for _, kind := range kinds {
		if err := n.DeleteAll(ctx, kind); err != nil {
			return err
		}
	}
	return n.write(ctx, Note{Kind: left.Kind, ID: left.ID})
}

func (n *Notes) leftoverFailed(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		n.log.ErrorContext(ctx, "querydb: notes of former generations, or of an earlier version, were not removed; "+
			"the next start tries again",
			"error", err)
	}
}

// each calls f with every note of a kind, in order.
func (n *Notes) each(ctx context.Context, kind string, f func(Note) error) error {
	for after := ""; ; {
		page, err := n.List(ctx, kind, after, MaxPageRows)
		if err != nil {
			return err
		}
		for _, note := range page {
			if err := f(note); err != nil {
				return err
			}
			after = note.ID
		}
		if len(page) < MaxPageRows {
			return nil
		}
	}
}

// write commits notes without rows.
func (n *Notes) write(ctx context.Context, list ...Note) error {
	writes, err := noteWrites(list, isMultiWriter(n.drv))
	if err != nil {
		return err
	}
	if err := n.drv.Apply(ctx, driver.Batch{Last: writes}); err != nil {
		return applyError(nil, err)
	}
	return nil
}

// noteWrites turns notes into writes of rows.
func noteWrites(list []Note, multiWriter bool) ([]driver.Write, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var b record.Builder
	writes := make([]driver.Write, 0, len(list))
	for _, n := range list {
		if n.CheckOnly && !multiWriter {
			continue
		}
		w := driver.Write{Table: notetable.Table, Kind: driver.Delete, IfRevision: n.IfRevision,
			Row: Row{Key: keys.Key{PK: n.Kind, SK: n.ID}, Revision: n.Revision}}
		if n.CheckOnly {
			w.Kind = driver.CheckRevision
		} else if n.Value != nil {
			rec, err := notetable.Encode(&b, n.Kind, n.ID, n.Value)
			if err != nil {
				return nil, noteError("write", w.Row.Key, err)
			}
			w.Kind, w.Row.Record = driver.Put, rec
		}
		if err := validate.Row(notetable.Table, &w.Row, nil, ""); err != nil {
			return nil, noteError("write", w.Row.Key, err)
		}
		writes = append(writes, w)
	}
	return writes, nil
}

func decodeNote(row *Row) ([]byte, error) {
	value, err := notetable.Decode(row.Record)
	if err != nil {
		return nil, noteError("read", row.Key, err)
	}
	return value, nil
}

func noteError(op string, k keys.Key, err error) error {
	return &Error{Op: op + " note", Key: driver.PrintableKey(k), Err: err}
}
