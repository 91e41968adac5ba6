package querydb_test

import (
	"context"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// asked keeps what rows were asked for last.
type asked struct {
	driver.Driver
	get   driver.Get
	query driver.Query
}

func (a *asked) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	a.get = g
	return a.Driver.Get(ctx, g)
}

func (a *asked) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	a.query = q
	return a.Driver.Query(ctx, q)
}

// TestReadsOfAnAtomicModelAskForRowsOfOneMoment, by key and by page: a store that reads rows one after another shows
// half of a transaction otherwise. Other models do not pay for it, and pages of an index do not promise it.
func TestReadsOfAnAtomicModelAskForRowsOfOneMoment(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		m := orderModel()
		m.Atomic = atomic
		a := &asked{Driver: memstore.New()}
		db := openModels(t, a, m)
		if _, err := db.Get(t.Context(), m, []keys.Key{{PK: "o1", SK: "a"}, {PK: "o1", SK: "b"}}, false); err != nil {
			t.Fatal(err)
		}
		if len(a.get.Keys) != 2 || a.get.Snapshot != atomic {
			t.Errorf("atomic %t: the store is asked for %+v", atomic, a.get)
		}
		for index, want := range map[int]bool{driver.Primary: atomic, 0: false} {
			if _, err := db.Query(t.Context(), m, querydb.Query{Index: index, PK: "o1", Limit: 10}); err != nil {
				t.Fatal(err)
			}
			if a.query.PK != "o1" || a.query.Snapshot != want {
				t.Errorf("atomic %t, index %d: the store is asked for %+v", atomic, index, a.query)
			}
		}
	}
}

// oneByOne reads one row in one call.
type oneByOne struct{ asked }

func (*oneByOne) MaxGet() int { return 1 }

// TestRowsOfOneMomentAreAskedForTogether, however few rows a store reads in one call: two calls are two moments.
func TestRowsOfOneMomentAreAskedForTogether(t *testing.T) {
	m := orderModel()
	m.Atomic = true
	a := &oneByOne{asked{Driver: memstore.New()}}
	db := openModels(t, a, m)
	if _, err := db.Get(t.Context(), m, []keys.Key{{PK: "o1", SK: "a"}, {PK: "o1", SK: "b"}}, false); err != nil {
		t.Fatal(err)
	}
	if len(a.get.Keys) != 2 {
		t.Errorf("the store is asked for %+v", a.get)
	}
}

// TestOnlyWhatClientsReadIsCached: no former rows of a fold, and no notes, which nearly every commit changes.
func TestOnlyWhatClientsReadIsCached(t *testing.T) {
	m := orderModel()
	a := &asked{Driver: memstore.New()}
	db := openModels(t, a, m)
	for what, c := range map[string]struct {
		read    func() error
		noCache bool
	}{
		"a client": {func() error {
			_, err := db.Get(t.Context(), m, []keys.Key{{PK: "o1", SK: "a"}}, false)
			return err
		}, false},
		"a fold": {func() error {
			_, err := db.ForFold("").Get(t.Context(), m, []keys.Key{{PK: "o1", SK: "a"}}, true)
			return err
		}, true},
		"a note": {func() error { _, err := db.Notes().Get(t.Context(), "kind", "id"); return err }, true},
	} {
		a.get = driver.Get{}
		if err := c.read(); err != nil {
			t.Fatal(err)
		}
		if len(a.get.Keys) != 1 || a.get.NoCache != c.noCache {
			t.Errorf("%s: the store is asked for %+v, want NoCache %t", what, a.get, c.noCache)
		}
	}
}
