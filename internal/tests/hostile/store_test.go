package hostile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// observed is a driver that remembers what was ever written, and fails where a request says so.
type observed struct {
	driver.Driver
	mu         sync.Mutex
	rows       map[rowID]bool
	partitions map[partitionID]bool
	tables     map[string]*driver.Table
}

type rowID struct {
	table string
	key   keys.Key
}

// partitionID is a partition of a table, or of one of its indexes.
type partitionID struct {
	table string
	index int
	pk    string
}

func observe(drv driver.Driver) *observed {
	return &observed{
		Driver: drv, rows: map[rowID]bool{}, partitions: map[partitionID]bool{}, tables: map[string]*driver.Table{},
	}
}

// Apply writes the batch, and remembers its keys.
func (o *observed) Apply(ctx context.Context, b driver.Batch) error {
	o.mu.Lock()
	for _, w := range b.Writes {
		if w.Kind == driver.DeletePartition {
			continue
		}
		o.tables[w.Table.Name] = w.Table
		o.rows[rowID{w.Table.Name, w.Row.Key}] = true
		o.partitions[partitionID{w.Table.Name, driver.Primary, w.Row.Key.PK}] = true
		for i, x := range w.Row.Indexes {
			if x.InIndex(&w.Table.Indexes[i]) {
				o.partitions[partitionID{w.Table.Name, i, x.PK}] = true
			}
		}
	}
	o.mu.Unlock()
	return o.Driver.Apply(ctx, b)
}

// Get reads rows, unless the request is in trouble.
func (o *observed) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := inTrouble(ctx); err != nil {
		return nil, err
	}
	return o.Driver.Get(ctx, g)
}

// Query reads a page, unless the request is in trouble.
func (o *observed) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := inTrouble(ctx); err != nil {
		return driver.Page{}, err
	}
	return o.Driver.Query(ctx, q)
}

// inTrouble returns what the store answers to the request of the context, nil where nothing is wrong.
func inTrouble(ctx context.Context) error {
	switch ctx.Value(troubleKey{}) {
	case refusing:
		return fmt.Errorf("%w: the pebble is at /srv/data and has lost its head", driver.ErrUnavailable)
	case throttled:
		return fmt.Errorf("%w: goroutine 7 is busy", driver.ErrThrottled)
	case slow:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// compareStores returns in which rows and indexes two stores differ, and how many rows it has looked at.
func compareStores(t *testing.T, got, want *observed) (differences []string, rows int) {
	t.Helper()
	own := map[string]bool{}
	for _, m := range model.All {
		own[m.Table] = true
	}
	for _, side := range []*observed{got, want} {
		for id := range side.rows {
			if !own[id.table] || side == want && got.rows[id] {
				continue
			}
			g := driver.Get{Table: side.tables[id.table], Keys: []keys.Key{id.key}}
			if a, b := row(t, want, g), row(t, got, g); !same(&a, &b) {
				differences = append(differences, fmt.Sprintf("row %v (-want +got):\n%s", id, cmp.Diff(a, b)))
			}
			rows++
		}
		for id := range side.partitions {
			if !own[id.table] || side == want && got.partitions[id] {
				continue
			}
			q := driver.Query{Table: side.tables[id.table], Index: id.index, PK: id.pk, Limit: 1000}
			if a, b := partition(t, want, q), partition(t, got, q); !slices.Equal(a, b) {
				differences = append(differences, fmt.Sprintf("partition %v (-want +got):\n%s", id, cmp.Diff(a, b)))
			}
		}
	}
	return differences, rows
}

// same reports whether two rows are the same in all that is stored.
func same(a, b *driver.Row) bool {
	return a.Key == b.Key && bytes.Equal(a.Record, b.Record) && slices.Equal(a.Indexes, b.Indexes) &&
		a.Position == b.Position &&
		a.Expires.Equal(b.Expires)
}

func row(t *testing.T, o *observed, g driver.Get) driver.Row {
	t.Helper()
	rows, err := o.Driver.Get(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Record == nil {
		return driver.Row{}
	}
	return rows[0]
}

// partition reads the keys of all rows of a partition, in order.
func partition(t *testing.T, o *observed, q driver.Query) (all []keys.Key) {
	t.Helper()
	for {
		page, err := o.Driver.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Rows {
			all = append(all, page.Rows[i].Key)
		}
		if !page.More {
			return all
		}
		q.Start = &page.Starts[len(page.Starts)-1]
	}
}
