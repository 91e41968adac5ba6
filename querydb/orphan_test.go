package querydb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// outliving is a store that outlives its DB, fails to drop as often as it is told, and reports what it dropped.
type outliving struct {
	*memstore.Store
	failures int
	dropped  chan string
}

func newOutliving(failures int) *outliving {
	return &outliving{Store: memstore.New(), failures: failures, dropped: make(chan string, 9)}
}

func (o *outliving) Close() error { return nil }

func (o *outliving) Drop(ctx context.Context, t *driver.Table) error {
	if o.failures > 0 {
		o.failures--
		return driver.ErrUnavailable
	}
	defer func() { o.dropped <- t.Name }()
	return o.Store.Drop(ctx, t)
}

func openModels(t *testing.T, drv driver.Driver, models ...*querydb.Model) *fixture {
	t.Helper()
	db, err := querydb.Open(t.Context(), drv, models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{DB: db, t: t}
	if len(models) > 0 {
		f.model, f.codec = models[0], orderCodec(models[0])
	}
	return f
}

func (f *fixture) wantOrphans(want ...querydb.Orphan) {
	f.t.Helper()
	got, err := f.Tables().Orphans(f.t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		f.t.Errorf("%v, the orphans: %s", err, diff)
	}
}

func renamed() *querydb.Model {
	m := orderModel()
	m.Table = "Purchases"
	return m
}

// started is a fixture whose model was begun and has a row.
func started(t *testing.T, drv driver.Driver, m *querydb.Model) *fixture {
	t.Helper()
	f := openModels(t, drv, m)
	g, err := f.Generations().Recorded(t.Context(), m)
	if err == nil && !g.Begun {
		err = f.Generations().Begin(t.Context(), m, g, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.put(sample(1))
	return f
}

func TestTheTableOfAModelThatIsGoneOrRenamedIsAnOrphanUntilItIsDropped(t *testing.T) {
	store := newOutliving(0)
	f := started(t, store, orderModel())
	f.wantOrphans()
	if err := f.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "Orders"}); !errors.Is(err, querydb.ErrConflict) {
		t.Errorf("drop a table that serves: %v, want ErrConflict", err)
	}
	if err := f.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "foldql"}); !errors.Is(err, querydb.ErrConflict) {
		t.Errorf("drop the notes: %v, want ErrConflict", err)
	}
	f.close()

	f = started(t, store, renamed())
	orphan := querydb.Orphan{Table: "Orders"}
	f.wantOrphans(orphan)
	if err := f.Tables().DropOrphan(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	f.wantOrphans()
	f.wantRows(1)
	f.close()

	f = openModels(t, store) // no models at all
	defer f.close()
	f.wantOrphans(querydb.Orphan{Table: "Purchases"})
}

func TestAModelThatGetsADroppedTableBackFoldsAgain(t *testing.T) {
	store := newOutliving(0)
	f := started(t, store, orderModel())
	before, err := f.Generations().Recorded(t.Context(), f.model)
	if err != nil {
		t.Fatal(err)
	}
	f.close()
	f = openModels(t, store, renamed())
	if err := f.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "Orders"}); err != nil {
		t.Fatal(err)
	}
	f.close()
	f = openModels(t, store, orderModel())
	defer f.close()
	f.wantRows(0)
	after, err := f.Generations().Recorded(t.Context(), f.model)
	if err != nil || after.Number == before.Number {
		t.Errorf("the generation is %d as before, %v: a checkpoint of rows that are gone would still hold", after.Number, err)
	}
}

func TestADropThatWasInterruptedIsGoneOnWith(t *testing.T) {
	store := newOutliving(1)
	started(t, store, orderModel()).close()
	f := openModels(t, store, renamed())
	orphan := querydb.Orphan{Table: "Orders"}
	if err := f.Tables().DropOrphan(t.Context(), orphan); !errors.Is(err, querydb.ErrUnavailable) {
		t.Errorf("a drop that fails: %v, want the error of the store", err)
	}
	f.wantOrphans() // it is being removed
	f.close()
	f = openModels(t, store, renamed())
	defer f.close()
	if name := <-store.dropped; name != orphan.Table {
		t.Errorf("%s was dropped, want %s", name, orphan.Table)
	}
	f.wantOrphans()
}

// mute is a store that cannot list its tables, and removes none.
type mute struct{ driver.Driver }

func TestAStoreThatCannotListItsTablesSaysSo(t *testing.T) {
	f := openModels(t, mute{memstore.New()}, orderModel())
	defer f.close()
	if _, err := f.Tables().Orphans(t.Context()); !errors.Is(err, querydb.ErrInvalid) {
		t.Errorf("list: %v, want ErrInvalid", err)
	}
	if err := f.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "x"}); !errors.Is(err, querydb.ErrInvalid) {
		t.Errorf("drop: %v, want ErrInvalid", err)
	}
}

// TestRowsThatAProgramWithoutTheModelDropsAreBuiltNoMore, nor do they serve again: nobody goes on with what is left.
func TestRowsThatAProgramWithoutTheModelDropsAreBuiltNoMore(t *testing.T) {
	drv := newOutliving(0)
	f := openModels(t, drv, orderModel())
	build, err := f.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recorded := func(of *fixture) querydb.Generation {
		t.Helper()
		g, err := of.Generations().Recorded(t.Context(), f.model)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	built := &fixture{DB: build, t: t, model: f.model, codec: f.codec}
	if err := build.Generations().Begin(t.Context(), f.model, recorded(built), nil); err != nil {
		t.Fatal(err)
	}
	built.put(sample(1))
	f.wantOrphans()

	without := openModels(t, drv, renamed())
	orphan := querydb.Orphan{Table: "Orders", Generation: 1}
	without.wantOrphans(orphan)
	if err := without.Tables().DropOrphan(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	if g := recorded(f); g.Begun || g.Beside().Building != -1 {
		t.Errorf("the generations are %+v, want none that serves or is built", g)
	}
	if next := recorded(f).NextBuilt(); next != 2 {
		t.Errorf("the next one that is built has number %d, want 2", next)
	}
}
