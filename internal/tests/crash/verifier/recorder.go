package verifier

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// recorder is a store in memory that remembers every partition that ever had a row, in the table or in an index: there
// a row may be that should have gone.
type recorder struct {
	*memstore.Store

	mu            sync.Mutex
	partitionKeys map[tableIndex]map[string]bool
	all           map[string][]written // by table, in the order of the events
}

// tableIndex is a table or, from 0, one of its indexes.
type tableIndex struct {
	table string
	index int
}

func newRecorder() *recorder {
	return &recorder{Store: memstore.New(), partitionKeys: map[tableIndex]map[string]bool{}, all: map[string][]written{}}
}

// Apply implements driver.Driver.
func (r *recorder) Apply(ctx context.Context, b driver.Batch) error {
	writes, err := r.oneByOne(ctx, b.Writes)
	if err != nil {
		return err
	}
	r.mu.Lock()
	for _, w := range writes {
		r.note(tableIndex{w.Table.Name, driver.Primary}, w.Row.Key.PK)
		r.all[w.Table.Name] = append(r.all[w.Table.Name], written{w.Row.Key, w.Row.Position, w.Row.Record})
		for i, k := range w.Row.Indexes {
			if k.HasPK {
				r.note(tableIndex{w.Table.Name, i}, k.PK)
			}
		}
	}
	r.mu.Unlock()
	return r.Store.Apply(ctx, b)
}

// oneByOne are the writes, with a delete of each row of a partition that is deleted.
func (r *recorder) oneByOne(ctx context.Context, writes []driver.Write) (list []driver.Write, err error) {
	named := map[keys.Key]bool{}
	for _, w := range writes {
		if w.Kind != driver.DeletePartition {
			named[w.Row.Key] = true
			list = append(list, w)
		}
	}
	for _, w := range writes {
		if w.Kind != driver.DeletePartition {
			continue
		}
		page, err := r.Store.Query(ctx, driver.Query{
			Table: w.Table, Index: driver.Primary, PK: w.Row.Key.PK, Limit: math.MaxInt,
		})
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			if !named[row.Key] {
				gone := driver.Row{Key: row.Key, Position: w.Row.Position}
				list = append(list, driver.Write{Table: w.Table, Kind: driver.Delete, Row: gone})
			}
		}
	}
	return list, nil
}

func (r *recorder) note(at tableIndex, pk string) {
	if r.partitionKeys[at] == nil {
		r.partitionKeys[at] = map[string]bool{}
	}
	r.partitionKeys[at][pk] = true
}

// writes are those of the rows of a table.
func (r *recorder) writes(table string) []written {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[table]
}

// partitions are those that were written, in order.
func (r *recorder) partitions(table string, index int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.partitionKeys[tableIndex{table, index}]))
}
