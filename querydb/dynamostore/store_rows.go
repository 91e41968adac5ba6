package dynamostore

import (
	"context"

	"github.com/foldql/foldql/querydb/driver"
)

// Get implements driver.Driver.
func (s *Store) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.rows == nil {
		return s.reader.Get(ctx, g)
	}
	table, err := s.reader.TableName(g.Table)
	if err != nil {
		return nil, err
	}
	return s.rows.Get(ctx, table, g, s.reader.Get)
}

// Query implements driver.Driver. Rows that have expired, and deleted ones, are skipped until the page is full; so a
// page reads at most twice the keys that it skips, and one key more than its rows.
func (s *Store) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return driver.Page{}, err
	}
	defer leave()
	return s.reader.Query(ctx, q)
}

// Apply implements driver.Driver: each write is a request of its own, many at a time, and Last comes after them.
func (s *Store) Apply(ctx context.Context, b driver.Batch) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if s.rows != nil {
		defer s.dropWritten(&b) // also where the batch fails: some of it may have been written
	}
	return s.applier.Apply(ctx, b)
}

// dropWritten has no client get the rows of a batch as they were before.
func (s *Store) dropWritten(b *driver.Batch) {
	for _, writes := range [...][]driver.Write{b.Writes, b.Last} {
		for i := range writes {
			t := writes[i].Table
			if table, err := s.reader.TableName(t); err == nil { // else there is nothing of it
				s.rows.Wrote(table, t.Kind, writes[i].Row.Key)
			}
		}
	}
}
