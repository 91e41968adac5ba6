package querydb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/validate"
)

// Limits of rows and pages that hold on every store.
const (
	// MaxPageRows is how many rows a page has at most: 1,000.
	MaxPageRows = validate.MaxPageRows
	// MaxRowSize is how many bytes a row has at most, its record, key and index keys together: 409,600. Where several
	// projections write the row, each may fill an equal share of it.
	MaxRowSize = validate.MaxRowSize
)

// Write is the change of one row of a model. A nil Record deletes the row.
type Write struct {
	Model *Model
	Row   Row
	// IfRevision makes the write conditional on a MultiWriter store: it takes effect only if the stored row still has
	// Row.Revision, at which it was read; otherwise the batch is ErrStale.
	IfRevision bool
	// Time is that of the event, the earliest of several. It is for unique indexes: another row that has expired by then
	// does not keep its key from this one. At the zero time, that of no event, none has expired, and the row keeps the
	// keys that it has.
	Time time.Time
	// Former are the Items of the row of an aggregate as it was read, none where there was no row. Those that are as
	// before are not written again, and those that the row no longer has are deleted. Such a write needs IfRevision on a
	// MultiWriter store, and an Atomic batch.
	Former []Row
	// DeletePartition deletes all rows under Row.Key.PK, except those that other writes of the batch are about. It is for
	// stores with one writer, and models whose rows one projection writes.
	DeletePartition bool
}

// Batch is the effect of one or more whole events of one projection, with the checkpoint that covers them.
type Batch struct {
	Writes []Write // no two of one row
	// Notes are records of the projection's own (checkpoints, dead letters). They are in the same commit, or, on a store
	// that cannot commit them together, written after all Writes.
	Notes []Note // no two of one name
	// Unchanged are rows that must be as they were read on a MultiWriter store; otherwise the batch is ErrStale. They ask
	// for an Atomic batch, and are no rows of its Writes.
	Unchanged []ReadRow
	// Generations are those that the batch was folded for, by the names of the tables. If another generation of a table
	// that several projections write to has begun since, nothing is written, and Apply returns ErrStale. A table that is
	// not named counts as one of generation 0.
	Generations map[string]int
	// Writer names the projection that writes, where several write the rows of a model: see Model.Writers. Elsewhere it
	// is "", and also where one batch has what all of them write: then it has whole rows, with the writers of each.
	Writer string
	// Deadline is when a MultiWriter store gives the batch up with ErrLate; the zero time is never. Other stores ignore
	// it.
	Deadline time.Time
	// Atomic asks for one commit of everything also on a MultiWriter store; more than DB.TxLimits is ErrTooLarge.
	Atomic bool
	// MultiRow says that one of the events changes several rows, so that a MultiWriter store refuses the batch before it
	// writes the first of them, and not in between, if the key of any is that of a row of another model.
	MultiRow bool
}

// ReadRow is a row at the revision at which it was read, 0 where it was not there.
type ReadRow struct {
	Model    *Model
	Key      keys.Key
	Revision uint64
}

// Apply commits a batch: see driver.Driver.Apply. A row that is too large, or has a key that is empty or too long, is
// refused before anything is written, with an *Error that names it. ErrStale asks the caller to read again.
func (db *DB) Apply(ctx context.Context, b Batch) error {
	if len(b.Writes) == 0 && len(b.Notes) == 0 {
		return ctx.Err()
	}
	batch := driver.Batch{Writes: make([]driver.Write, len(b.Writes)), Writer: b.Writer, Deadline: b.Deadline,
		Atomic: b.Atomic, MultiRow: b.MultiRow}
	var err error
	if batch.Last, err = noteWrites(b.Notes, db.MultiWriter()); err != nil {
		return err
	}
	if err := db.rowWrites(&b, &batch); err != nil {
		return err
	}
	if err := db.addUnchanged(&b, &batch); err != nil {
		return err
	}
	leave, err := db.enter(&b, &batch)
	if err != nil {
		return applyError(b.Writes, err)
	}
	defer leave()
	began := time.Now()
	err = db.drv.Apply(ctx, batch)
	db.tables.countApplied(b.Writes, err, time.Since(began))
	if err != nil {
		return applyError(b.Writes, err)
	}
	return nil
}

// Validate returns the error with which Apply would refuse the row, nil where it would not. A row with a nil Record is
// one to delete.
func (db *DB) Validate(m *Model, r *Row) error {
	t, err := db.tables.of("check", m)
	if err != nil {
		return err
	}
	part, err := t.part(db.writer)
	if err == nil {
		err = t.validate(t.serving.Load(), r, part, db.writer)
	}
	if err != nil {
		return &Error{Op: "check", Model: m.Name, Key: driver.PrintableKey(r.Key), Err: err}
	}
	return nil
}

// rowWrites turns the writes of rows into those of the driver: one for each in order, and after these the ones of the
// other items of aggregates.
func (db *DB) rowWrites(b *Batch, batch *driver.Batch) error {
	var t *table
	var shape *driver.Table
	var part *driver.Part
	for i := range b.Writes {
		w := &b.Writes[i]
		if t == nil || t.model != w.Model {
			var err error
			if t, err = db.tables.of("apply", w.Model); err != nil {
				return err
			}
			if part, err = t.part(b.Writer); err != nil {
				return &Error{Op: "apply", Model: w.Model.Name, Err: err}
			}
			shape = t.serving.Load()
		}
		err := t.validate(shape, &w.Row, part, b.Writer)
		if w.DeletePartition {
			err = checkPartition(w, part, db.MultiWriter())
		}
		if err != nil {
			return &Error{Op: "apply", Model: w.Model.Name, Key: driver.PrintableKey(w.Row.Key), Err: err}
		}
		batch.Writes[i] = driver.Write{Table: shape, Kind: kindOf(w), Row: w.Row, IfRevision: w.IfRevision, Part: part,
			Time: w.Time}
		if plan := t.planOf(shape); plan != nil {
			plan.Split(&batch.Writes[i], w.Former, &batch.Writes)
		}
	}
	return nil
}

// addUnchanged adds the conditions on rows that the batch does not write; a store with one writer needs none.
func (db *DB) addUnchanged(b *Batch, batch *driver.Batch) error {
	if !db.MultiWriter() {
		return nil
	}
	for _, r := range b.Unchanged {
		t, err := db.tables.of("apply", r.Model)
		if err != nil {
			return err
		}
		batch.Last = append(batch.Last, driver.Write{
			Table: t.serving.Load(), Kind: driver.CheckRevision, Row: Row{Key: r.Key, Revision: r.Revision}, IfRevision: true,
		})
	}
	return nil
}

// enter holds the generations of tables with several projections that a batch writes to until leave is called, and
// lets a store that other processes write to hold them too.
func (db *DB) enter(b *Batch, batch *driver.Batch) (leave func(), err error) {
	var held []*generation.Lock
	leave = func() {
		for _, l := range held {
			l.Leave()
		}
	}
	for i := range b.Writes {
		t := db.tables[b.Writes[i].Model]
		if !t.model.MultiProjection() || slices.Contains(held, t.lock) {
			continue
		}
		if err := t.lock.Enter(t.model.Table, b.Generations[t.model.Table], batch.Writes[i].Table.Generation); err != nil {
			leave()
			return nil, err
		}
		held = append(held, t.lock)
		if db.MultiWriter() {
			batch.Last = append(batch.Last, t.lock.Condition(t.model.Table))
		}
	}
	return leave, nil
}

func applyError(writes []Write, err error) error {
	e := &Error{Op: "apply", Err: err}
	if len(writes) > 0 {
		e.Model = writes[0].Model.Name
	} else {
		e.Op = "apply notes"
	}
	return e
}

func kindOf(w *Write) driver.WriteKind {
	switch {
	case w.DeletePartition:
		return driver.DeletePartition
	case w.Row.Record == nil:
		return driver.Delete
	}
	return driver.Put
}

// checkPartition refuses the delete of a partition that cannot be.
func checkPartition(w *Write, part *driver.Part, multiWriter bool) error {
	if multiWriter || part != nil || w.Row.Record != nil {
		return fmt.Errorf("%w: a partition is deleted at once where one process and one projection write its rows",
			ErrInvalid)
	}
	if w.Row.Key.PK == "" {
		return fmt.Errorf("%w: the partition key is empty", ErrInvalid)
	}
	return validate.KeySize(w.Row.Key.PK, "")
}
