package querydb_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestNotesThatNobodyReadsKeepNeitherCallersNorTheEndWaiting: there may be millions of them. What is left of them at
// the end, the next start deletes.
func TestNotesThatNobodyReadsKeepNeitherCallersNorTheEndWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kind, count = "former", 3 * querydb.MaxPageRows
		shared, goOn := memstore.NewMultiWriter(memstore.Options{}), make(chan struct{})
		once := sync.OnceFunc(func() { <-goOn })
		db := openOn(t, shared.Join(memstore.Options{Before: func(c memstore.Commit) error {
			if slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool {
				return w.Row.Key.PK == kind && w.Kind == driver.Delete
			}) {
				once()
			}
			return nil
		}}))
		for page := range count / 100 {
			var notes []querydb.Note
			for i := range 100 {
				notes = append(notes, querydb.Note{Kind: kind, ID: fmt.Sprint(page, ".", i), Value: []byte("x")})
			}
			if err := db.Apply(t.Context(), querydb.Batch{Notes: notes}); err != nil {
				t.Fatal(err)
			}
		}
		left := querydb.LeftoverNote([]string{kind})
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{left}}); err != nil {
			t.Fatal(err)
		}
		db.Notes().DropLeftover(left) // does not wait for goOn
		closed := make(chan error)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		close(goOn)
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		next := openOn(t, shared.Join(memstore.Options{}))
		there := func(kind string) bool {
			notes, err := next.Notes().List(t.Context(), kind, "", 1)
			if err != nil {
				t.Fatal(err)
			}
			return len(notes) > 0
		}
		if !there(kind) || !there(left.Kind) {
			t.Error("the end has waited until all notes were deleted")
		}
		next.Notes().DropLeftovers(t.Context())
		synctest.Wait()
		if there(kind) || there(left.Kind) {
			t.Error("the next start has not deleted what was left")
		}
	})
}

func openOn(t *testing.T, drv driver.Driver) *querydb.DB {
	t.Helper()
	db, err := querydb.Open(t.Context(), drv, nil, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
