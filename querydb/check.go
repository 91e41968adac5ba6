package querydb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Limits that hold for every driver; they are DynamoDB's, but for MaxPageRows.
const (
	MaxPageRows = 1000 // rows of a page
	// bytes of a row: its record, its key and its index keys; each of several writers has as much as the others
	MaxRowSize = 400 * 1024
)

// checkModel refuses a model that cannot have its table. Of those in a table that models share, named has the first.
func checkModel(m *Model, named map[string]*Model) error {
	switch other := named[m.Table]; {
	case m.Table == "":
		return fmt.Errorf("%w: the table has no name", ErrInvalid)
	case m.Table == notesTable:
		return fmt.Errorf("%w: the table name %q is taken by the notes; give it another", ErrInvalid, notesTable)
	case m.Entity != nil && len(m.Entity.PhysicalIndexes) != len(m.Indexes):
		return fmt.Errorf("%w: %d of its %d indexes have a place in the table %q", ErrInvalid, len(m.Entity.PhysicalIndexes),
			len(m.Indexes), m.Table)
	case other != nil && m.Entity != nil && other.Entity != nil && m.Entity.Table == other.Entity.Table:
		return nil
	case other != nil:
		return fmt.Errorf("%w: the table %q is also that of %s; give one of them another", ErrInvalid, m.Table, other.Name)
	}
	return nil
}

// checkKey refuses a key that no row can have.
func checkKey(k keys.Key, sorted bool) error {
	if k.PK == "" {
		return fmt.Errorf("%w: the partition key is empty", ErrInvalid)
	}
	if sorted && k.SK == "" {
		return fmt.Errorf("%w: the sort key is empty", ErrInvalid)
	}
	if !sorted && k.SK != "" {
		return fmt.Errorf("%w: the key has a sort half, and the table has none", ErrInvalid)
	}
	return checkSizes(k.PK, k.SK)
}

func checkSizes(pk, sk string) error {
	if len(pk) > keys.MaxPK {
		return fmt.Errorf("%w: the partition key has %d bytes, and may have %d", ErrInvalid, len(pk), keys.MaxPK)
	}
	if len(sk) > keys.MaxSK {
		return fmt.Errorf("%w: the sort key has %d bytes, and may have %d", ErrInvalid, len(sk), keys.MaxSK)
	}
	return nil
}

// checkQuery refuses a query that cannot be answered.
func checkQuery(t *driver.Table, q *Query) error {
	sorted := t.Sorted
	if q.Index != driver.Primary {
		sorted = t.Indexes[q.Index].Sorted()
	}
	switch {
	case q.Limit < 1 || q.Limit > MaxPageRows:
		return fmt.Errorf("%w: the limit is %d, and must be 1 to %d", ErrInvalid, q.Limit, MaxPageRows)
	case q.PK == "":
		return fmt.Errorf("%w: the partition key is empty", ErrInvalid)
	case q.Range.Op > keys.Between:
		return fmt.Errorf("%w: there is no range operator %d", ErrInvalid, q.Range.Op)
	case q.Range.Op != keys.All && !sorted:
		return fmt.Errorf("%w: a range of sort keys is asked for, and there is no sort key", ErrInvalid)
	}
	for _, f := range q.Fields {
		if f < 0 || f >= len(t.Fields) {
			return fmt.Errorf("%w: there is no field %d", ErrInvalid, f)
		}
	}
	if err := checkSizes(q.PK, q.Range.Lo); err != nil {
		return err
	}
	return checkSizes(q.PK, q.Range.Hi)
}

// checkRow refuses a row that cannot be stored, or the part of it that the writer has.
func checkRow(t *driver.Table, r *Row, part *driver.Part, writer string) error {
	if err := checkKey(r.Key, t.Sorted); err != nil {
		return err
	}
	if strings.HasPrefix(r.Key.PK, driver.ReservedPrefix) && t.Unique() {
		return fmt.Errorf("%w: keys of a table with unique indexes that begin with %q are the store's own", ErrInvalid,
			driver.ReservedPrefix)
	}
	if r.Key.PK == driver.MarkPK {
		return fmt.Errorf("%w: the key %q is the store's own", ErrInvalid, driver.MarkPK)
	}
	if r.Record == nil {
		return nil
	}
	if len(r.Indexes) != len(t.Indexes) {
		return fmt.Errorf("%w: the row has %d index keys, and the model has %d indexes", ErrInvalid, len(r.Indexes),
			len(t.Indexes))
	}
	for i := range r.Indexes {
		if err := checkIndexKey(&r.Indexes[i]); err != nil {
			return fmt.Errorf("index %s: %w", t.Indexes[i].Name, err)
		}
	}
	return checkSize(r, part, writer)
}

// checkSize refuses a row that is too large. A writer of a part has as much room as each of the others, whatever they
// have written: so what it writes always fits, and it learns that it does not before anything is written.
func checkSize(r *Row, part *driver.Part, writer string) error {
	size := len(r.Record) + len(r.Key.PK) + len(r.Key.SK)
	for i := range r.Indexes {
		if part == nil || slices.Contains(part.PK, i) {
			size += len(r.Indexes[i].PK)
		}
		if part == nil || slices.Contains(part.SK, i) {
			size += len(r.Indexes[i].SK)
		}
	}
	switch {
	case part == nil && size > MaxRowSize:
		return fmt.Errorf("%w: the row has %d bytes, and may have %d", ErrTooLarge, size, MaxRowSize)
	case part != nil && size > MaxRowSize/part.WriterCount:
		return fmt.Errorf("%w: what %s writes of the row has %d bytes, and may have %d: %d projections write it, each up to "+
			"its share of %d",
			ErrTooLarge, writer, size, MaxRowSize/part.WriterCount, part.WriterCount, MaxRowSize)
	}
	return nil
}

func checkIndexKey(x *IndexKey) error {
	if x.HasPK && x.PK == "" || x.HasSK && x.SK == "" {
		return fmt.Errorf("%w: a half is empty", ErrInvalid)
	}
	return checkSizes(x.PK, x.SK)
}
