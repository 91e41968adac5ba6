package querydb_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// entityModels are two models of one table with three indexes: the first is in the last two of them, in the other
// order.
func entityModels() (orders, returns *querydb.Model) {
	shared := &querydb.SharedTable{
		Name: "Shop", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
		Indexes: []querydb.SharedIndex{{Name: "gsi1"}, {Name: "gsi2", AlwaysSorted: true}, {Name: "gsi3"}},
	}
	orders, returns = orderModel(), orderModel()
	returns.Name = "Return"
	orders.Entity = &querydb.Entity{Table: shared, Kind: "order", PhysicalIndexes: []int{2, 1}}
	returns.Entity = &querydb.Entity{Table: shared, Kind: "return", PhysicalIndexes: []int{0, 1}}
	for _, m := range []*querydb.Model{orders, returns} {
		m.Table, m.Version = "Shop", "v1"
	}
	return orders, returns
}

func openEntities(t *testing.T, drv driver.Driver) (orders, returns *fixture) {
	t.Helper()
	a, b := entityModels()
	db, err := querydb.Open(t.Context(), drv, []*querydb.Model{a, b}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{DB: db, t: t, model: a, codec: orderCodec(a)}, &fixture{DB: db, t: t, model: b, codec: orderCodec(b)}
}

func TestIndexesOfAnEntityLieWhereTheTableHasThem(t *testing.T) {
	orders, _ := openEntities(t, memstore.New())
	r := sample(1)
	row, err := querydb.Encode(orders.codec, new(record.Builder), &r)
	if err != nil {
		t.Fatal(err)
	}
	want := []querydb.IndexKey{
		{},
		{Key: keys.Key{PK: "open", SK: "2024-01-15T13:00:00.000Z"}, HasPK: true, HasSK: true},
		{Key: keys.Key{PK: "ann"}, HasPK: true},
	}
	if diff := cmp.Diff(want, row.Indexes); diff != "" {
		t.Error(diff)
	}
	orders.put(r)
	if page := orders.query(querydb.Query{Index: byCustomer, PK: "ann", Limit: 10}); len(page.Rows) != 1 {
		t.Errorf("%d rows by the index of the model, want 1", len(page.Rows))
	}
}

func TestARowOfAnEntityIsInAnIndexWithBothHalvesOrWithNone(t *testing.T) {
	model, _ := entityModels()
	r := sample(1)
	r.Customer = nil
	byBoth := querydb.Index{Name: "byBoth", PK: model.Indexes[0].PK, SK: model.Indexes[1].PK}
	for name, test := range map[string]struct {
		entity  *querydb.Entity
		writers []querydb.Writer
		want    querydb.IndexKey
	}{
		"an entity": {entity: model.Entity},
		"an entity of several writers": {model.Entity, []querydb.Writer{{Name: "a"}, {Name: "b"}},
			querydb.IndexKey{Key: keys.Key{SK: "open"}, HasSK: true}},
		"a model of its own table": {want: querydb.IndexKey{Key: keys.Key{SK: "open"}, HasSK: true}},
	} {
		m := *model
		m.Entity, m.Writers, m.Indexes = test.entity, test.writers, []querydb.Index{byBoth}
		row, err := querydb.Encode(orderCodec(&m), new(record.Builder), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got := row.Indexes[m.PhysicalIndex(0)]; got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestAllModelsOfATableAreBegunAgainTogether(t *testing.T) {
	for name, drv := range map[string]driver.Driver{"one process": memstore.New(),
		"several": memstore.NewMultiWriter(memstore.Options{})} {
		t.Run(name, func(t *testing.T) {
			orders, returns := openEntities(t, drv)
			ctx := t.Context()
			if err := orders.Generations().Begin(ctx, orders.model, querydb.Generation{}, nil); err != nil {
				t.Fatal(err)
			}
			begun := serve(t, returns)
			if begun.Version != "v1" || begun.Number != 0 || !begun.Begun {
				t.Errorf("the table was begun as %+v", begun)
			}
			orders.put(sample(1))
			returns.put(sample(2))

			if err := orders.Generations().Begin(ctx, orders.model, serve(t, orders), nil); err != nil {
				t.Fatal(err)
			}
			late := querydb.Batch{
				Writes: []querydb.Write{{Model: returns.model, Row: returns.encode(sample(3))}},
				Notes:  []querydb.Note{{Kind: "k", ID: "late", Value: []byte("x")}},
			}
			if err := returns.Apply(ctx, late); !errors.Is(err, querydb.ErrStale) {
				t.Errorf("a commit into the former generation: %v, want ErrStale", err)
			}
			if n, err := returns.Notes().Get(ctx, "k", "late"); err != nil || n.Value != nil {
				t.Errorf("its note is %q, %v", n.Value, err)
			}
			if next := serve(t, returns); next.Number != 1 {
				t.Errorf("generation %d serves, want 1", next.Number)
			}
			if late.Generations = map[string]int{returns.model.Table: 1}; returns.Apply(ctx, late) != nil {
				t.Error("a commit into the new generation fails")
			}
			returns.wantRows(1)
		})
	}
}

func TestACommitIsStaleWhereAnotherProcessHasBegunTheTableAgain(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	here, _ := openEntities(t, store)
	_, there := openEntities(t, store.Join(memstore.Options{}))
	if err := here.Generations().Begin(t.Context(), here.model, querydb.Generation{}, nil); err != nil {
		t.Fatal(err)
	}
	serve(t, there)
	there.put(sample(1))
	if err := here.Generations().Begin(t.Context(), here.model, serve(t, here), nil); err != nil {
		t.Fatal(err)
	}
	late := querydb.Batch{
		Writes: []querydb.Write{{Model: there.model, Row: there.encode(sample(2))}},
		Notes:  []querydb.Note{{Kind: "k", ID: "late", Value: []byte("x")}},
	}
	if err := there.Apply(t.Context(), late); !errors.Is(err, querydb.ErrStale) {
		t.Errorf("%v, want ErrStale", err)
	}
	if n, err := there.Notes().Get(t.Context(), "k", "late"); err != nil || n.Value != nil {
		t.Errorf("its note is %q, %v", n.Value, err)
	}
}

// serve lets the model read and write the generation that is on record.
func serve(t *testing.T, f *fixture) querydb.Generation {
	t.Helper()
	g, err := f.Generations().Recorded(t.Context(), f.model)
	if err == nil {
		err = f.Generations().Use(f.model, g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOnlyTheWritersOfAModelWriteParts(t *testing.T) {
	m := orderModel()
	m.Writers = []querydb.Writer{{Name: "a"}, {Name: "b"}}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
	defer f.close()
	for _, writer := range []string{"", "c"} {
		b := querydb.Batch{Writer: writer, Writes: []querydb.Write{{Model: m, Row: f.encode(sample(1))}}}
		if err := f.Apply(t.Context(), b); !errors.Is(err, querydb.ErrInvalid) {
			t.Errorf("writer %q: %v, want ErrInvalid", writer, err)
		}
	}
}
