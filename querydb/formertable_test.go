package querydb_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// inFormerTable are models that share a table, over a store where the first had one of its own, in which it has rows.
func inFormerTable(t *testing.T) (orders, returns *fixture) {
	t.Helper()
	store := newOutliving(0)
	was := started(t, store, orderModel())
	if err := was.Generations().SaveLayout(t.Context(), was.model, 0); err != nil {
		t.Fatal(err)
	}
	was.put(sample(2))
	was.close()
	return openEntities(t, store)
}

// formerly is what there is of rows of the model in a generation of a table.
func (f *fixture) formerly(table string, generation int) *querydb.Layout {
	f.t.Helper()
	l, found, err := querydb.FormerTable(f.t.Context(), f.DB, f.model, table, generation)
	if err != nil || found.Provenance != querydb.ProvenanceRecorded {
		f.t.Fatalf("%+v, %v, want rows that are those on record", found, err)
	}
	return l
}

// TestRowsServeFromTheTableThatAModelHadBefore, which belongs to a model for as long as they do, and no more once rows
// in the model's own table serve.
func TestRowsServeFromTheTableThatAModelHadBefore(t *testing.T) {
	orders, returns := inFormerTable(t)
	ctx, g := t.Context(), orders.Generations()
	if l := orders.formerly("Orders", 1); l != nil {
		t.Errorf("of a generation that never was there is %+v", l)
	}
	if l := returns.formerly("Shop", 0); l != nil {
		t.Errorf("of a table that was never begun there is %+v", l)
	}
	l := orders.formerly("Orders", 0)
	if l == nil || l.Table() != "Orders" {
		t.Fatalf("there is %+v, want rows in the former table", l)
	}
	if err := g.ServeAll([]querydb.Served{{Model: orders.model, Generation: 0, Layout: l}}); err != nil {
		t.Fatal(err)
	}
	orders.wantOrphans()
	if err := orders.Tables().DropOrphan(ctx, querydb.Orphan{Table: "Orders"}); !errors.Is(err, querydb.ErrConflict) {
		t.Errorf("drop the table that serves: %v, want ErrConflict", err)
	}
	of := querydb.Query{Index: byCustomer, PK: "ann", Limit: 10}
	if page := orders.query(of); len(page.Rows) != 2 || page.Rows[0].Kind != "order" {
		t.Errorf("%+v, want two orders", page.Rows)
	}
	if rows, err := orders.Get(ctx, orders.model, []keys.Key{orders.encode(sample(1)).Key}, false); err != nil ||
		rows[0].Record == nil {
		t.Errorf("%v, %v, want a row", rows, err)
	}
	if err := g.Begin(ctx, orders.model, querydb.Generation{}, nil); err != nil {
		t.Fatal(err)
	}
	if page := orders.query(of); len(page.Rows) != 0 {
		t.Errorf("of the own table: %+v, want no rows", page.Rows)
	}
	orders.wantOrphans(querydb.Orphan{Table: "Orders"})
}

// TestACollectionOfRowsInTwoTablesSaysThatItIsNotRebuilt: it would be read in one of them alone.
func TestACollectionOfRowsInTwoTablesSaysThatItIsNotRebuilt(t *testing.T) {
	orders, returns := inFormerTable(t)
	ctx, g := t.Context(), orders.Generations()
	if err := g.Begin(ctx, returns.model, querydb.Generation{}, nil); err != nil {
		t.Fatal(err)
	}
	returns.put(sample(3))
	all := &querydb.Collection{Name: "Open", Table: orders.model.Entity.Table, Index: 1,
		Members: []querydb.CollectionMember{{Model: orders.model, Index: 1}, {Model: returns.model, Index: 1}}}
	read := func() (querydb.Page, error) {
		return orders.QueryCollection(ctx, all, querydb.CollectionQuery{PK: "open", Ranges: []keys.Range{{}}, Limit: 10})
	}
	if page, err := read(); err != nil || len(page.Rows) != 1 {
		t.Errorf("%+v, %v, want the row of one table", page.Rows, err)
	}
	if err := g.Serve(orders.model, 0, orders.formerly("Orders", 0)); err != nil {
		t.Fatal(err)
	}
	var dark *querydb.NotRebuiltError
	if page, err := read(); !errors.As(err, &dark) {
		t.Errorf("%+v, %v, want a NotRebuiltError", page.Rows, err)
	}
}

// TestRowsInASharedTableAreThoseOfOthersWhereTheirModelsHaveLeftIt, for a model that has none there.
func TestRowsInASharedTableAreThoseOfOthersWhereTheirModelsHaveLeftIt(t *testing.T) {
	store := newOutliving(0)
	orders, returns := openEntities(t, store)
	for _, f := range []*fixture{orders, returns} {
		if err := f.Generations().SaveLayout(t.Context(), f.model, 0); err != nil {
			t.Fatal(err)
		}
	}
	left := orderModel()
	left.Name = "Return"
	stays, fresh := entityModels()
	fresh.Name, fresh.Entity.Kind = "Refund", "refund"
	db := openModels(t, store, left, stays, fresh).DB
	for of, want := range map[*querydb.Model]querydb.Whose{stays: querydb.WhoseModel, fresh: querydb.WhoseOthers} {
		whose, err := querydb.WhoseRows(t.Context(), db, []*querydb.Model{of, of}, []int{0, 1})
		if diff := cmp.Diff([]querydb.Whose{want, querydb.WhoseNone}, whose); err != nil || diff != "" {
			t.Errorf("of %s: %v, %s", of.Name, err, diff)
		}
	}
}
