package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// Row refuses a row that cannot be stored; where several projections write it, the part of it that the writer has.
func Row(t *driver.Table, r *driver.Row, part *driver.Part, writer string) error {
	if err := Key(r.Key, t.Sorted); err != nil {
		return err
	}
	if strings.HasPrefix(r.Key.PK, driver.ReservedPrefix) && t.Unique() {
		return fmt.Errorf("%w: keys of a table with unique indexes that begin with %q are the store's own",
			driver.ErrInvalid, driver.ReservedPrefix)
	}
	if r.Key.PK == driver.MarkPK {
		return fmt.Errorf("%w: the key %q is the store's own", driver.ErrInvalid, driver.MarkPK)
	}
	if r.Record == nil {
		return nil
	}
	if len(r.Indexes) != len(t.Indexes) {
		return fmt.Errorf("%w: the row has %d index keys, and the model has %d indexes", driver.ErrInvalid,
			len(r.Indexes), len(t.Indexes))
	}
	for i := range r.Indexes {
		if err := indexKey(&r.Indexes[i]); err != nil {
			return fmt.Errorf("index %s: %w", t.Indexes[i].Name, err)
		}
	}
	return rowSize(r, part, writer)
}

func indexKey(x *driver.IndexKey) error {
	if x.HasPK && x.PK == "" || x.HasSK && x.SK == "" {
		return fmt.Errorf("%w: a half is empty", driver.ErrInvalid)
	}
	return KeySize(x.PK, x.SK)
}

// rowSize refuses a row that is too large. A writer of a part has as much room as each of the others, whatever they
// have written: so what it writes always fits, and it learns that it does not before anything is written.
func rowSize(r *driver.Row, part *driver.Part, writer string) error {
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
		return fmt.Errorf("%w: the row has %d bytes, and may have %d", driver.ErrTooLarge, size, MaxRowSize)
	case part != nil && size > MaxRowSize/part.WriterCount:
		return fmt.Errorf("%w: what %s writes of the row has %d bytes, and may have %d: %d projections write it, each up to "+
			"its share of %d",
			driver.ErrTooLarge, writer, size, MaxRowSize/part.WriterCount, part.WriterCount, MaxRowSize)
	}
	return nil
}
