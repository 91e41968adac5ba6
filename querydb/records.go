package querydb

import (
	"context"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// rowMemory has memory of rows that were read for their records.
var rowMemory sync.Pool

// mostKeptRows bounds what is kept of it for the next read.
const mostKeptRows = 1024

// GetRecords is [DB.Get] for who needs the records alone: it fills them in, aligned with ks, nil where there is no row.
// It takes no memory for the rows, which are larger than most records. The records must not be changed.
func (db *DB) GetRecords(ctx context.Context, m *Model, ks []keys.Key, consistent bool, records []record.Record) error {
	into, _ := rowMemory.Get().(*[]Row)
	if into == nil || len(*into) < len(ks) {
		into = new(make([]Row, max(len(ks), 16)))
	}
	rows, err := db.get(ctx, m, ks, consistent, (*into)[:len(ks)])
	for i := range rows {
		records[i] = rows[i].Record
	}
	if clear((*into)[:len(ks)]); len(*into) <= mostKeptRows {
		rowMemory.Put(into)
	}
	return err
}
