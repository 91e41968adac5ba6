package querydb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// busy is a store whose every order changes faster than it can be read.
type busy struct {
	driver.Driver
	root record.Record
}

func (b busy) torn(table *driver.Table) error {
	if table.Name != "Orders" {
		return nil
	}
	return fmt.Errorf("%w: %w", driver.ErrUnavailable, &aggregate.TornError{Root: b.root})
}

func (b busy) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := b.torn(g.Table); err != nil {
		return nil, err
	}
	return b.Driver.Get(ctx, g)
}

func (b busy) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := b.torn(q.Table); err != nil {
		return driver.Page{}, err
	}
	return b.Driver.Query(ctx, q)
}

// TestTheRootOfATornObjectHasTheFieldsOfTheModel, also where it was written under a former layout.
func TestTheRootOfATornObjectHasTheFieldsOfTheModel(t *testing.T) {
	var b record.Builder
	b.Begin(4)
	b.String("open")
	b.Null()
	b.String("o1")
	b.DateTime(noon)
	root, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	m := orderModel()
	db := openMemory(t, busy{memstore.New(), root}, m)
	if err := db.Generations().Serve(m, 0, formerOrders().Layout()); err != nil {
		t.Fatal(err)
	}
	_, got := db.Get(t.Context(), m, []keys.Key{{PK: "o1", SK: "x"}}, false)
	_, found := db.Query(t.Context(), m, querydb.Query{Index: byStatus, PK: "open", Limit: 1, Fields: []int{fID}})
	for how, err := range map[string]error{"by its key": got, "by an index": found} {
		var torn *aggregate.TornError
		if !errors.As(err, &torn) || !errors.Is(err, querydb.ErrUnavailable) {
			t.Fatalf("%s: %v, want a TornError", how, err)
		}
		if id, status := string(torn.Root.JSON(fID)), string(torn.Root.JSON(fStatus)); id != `"o1"` || status != `"open"` {
			t.Errorf("%s: the root has the id %s and the status %s", how, id, status)
		}
	}
}
