package querydb

import (
	"context"
	"fmt"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Write is the change of one row of a model. A nil Record deletes the row.
type Write struct {
	Model *Model
	Row   Row
	// IfRevision says that the change was made of the row as it was read, at Row.Revision: see driver.Write.
	IfRevision bool
	// Time is that of the event: see driver.Write.
	Time time.Time
	// DeletePartition deletes all rows under Row.Key.PK, but those that other writes of the batch are about. It is for
	// stores with one writer, and models of which one projection writes the rows.
	DeletePartition bool
}

// Batch is the effect of one or more whole events of one projection, with the checkpoint that covers them.
type Batch struct {
	Writes []Write // no two of one row
	// Notes are records of the projection's own (checkpoints, dead letters), in the same commit, or after all
	// Writes on a store that cannot commit them together.
	Notes []Note // no two of one name
	// Generation is that of the table which the Notes are about. Where several projections write to the table, and one of
	// them has begun another since, nothing is written, and the answer is ErrStale.
	Generation int
	// Writer and Deadline are as in driver.Batch; stores with one writer have no use for them.
	Writer   string
	Deadline time.Time
	// Atomic asks for one commit of everything also on a MultiWriter store; more than DB.TxLimits is ErrTooLarge.
	Atomic bool
	// MultiRow is as in driver.Batch.
	MultiRow bool
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
	if err := db.rowWrites(&b, batch.Writes); err != nil {
		return err
	}
	leave, err := db.enter(&b, &batch)
	if err != nil {
		return applyError(b.Writes, err)
	}
	defer leave()
	began := time.Now()
	err = db.drv.Apply(ctx, batch)
	db.count(b.Writes, err, time.Since(began))
	if err != nil {
		return applyError(b.Writes, err)
	}
	return nil
}

// rowWrites turns the writes of rows into those of the driver.
func (db *DB) rowWrites(b *Batch, writes []driver.Write) error {
	var t *table
	var shape *driver.Table
	var part *driver.Part
	for i := range b.Writes {
		w := &b.Writes[i]
		if t == nil || t.model != w.Model {
			var err error
			if t, err = db.table("apply", w.Model); err != nil {
				return err
			}
			if part, err = t.part(b.Writer); err != nil {
				return &Error{Op: "apply", Model: w.Model.Name, Err: err}
			}
			shape = t.serving.Load()
		}
		err := checkRow(shape, &w.Row, part, b.Writer)
		if w.DeletePartition {
			err = db.checkPartition(w, part)
		}
		if err != nil {
			return &Error{Op: "apply", Model: w.Model.Name, Key: driver.PrintableKey(w.Row.Key), Err: err}
		}
		writes[i] = driver.Write{Table: shape, Kind: kindOf(w), Row: w.Row, IfRevision: w.IfRevision, Part: part,
			Time: w.Time}
	}
	return nil
}

// count adds a batch to the counters of each model that it writes.
func (db *DB) count(writes []Write, err error, took time.Duration) {
	for len(writes) > 0 {
		m, n := writes[0].Model, 1
		for n < len(writes) && writes[n].Model == m {
			n++
		}
		db.tables[m].stats.applied(n, err, took)
		writes = writes[n:]
	}
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
func (db *DB) checkPartition(w *Write, part *driver.Part) error {
	if db.MultiWriter() || part != nil || w.Row.Record != nil {
		return fmt.Errorf("%w: a partition is deleted at once where one process and one projection write its rows",
			ErrInvalid)
	}
	if w.Row.Key.PK == "" {
		return fmt.Errorf("%w: the partition key is empty", ErrInvalid)
	}
	return checkSizes(w.Row.Key.PK, "")
}
