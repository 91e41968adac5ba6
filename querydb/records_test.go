package querydb_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// TestRecordsAreThoseOfTheRows, of keys that repeat and that no row has, while others read in memory that they pass on.
func TestRecordsAreThoseOfTheRows(t *testing.T) {
	store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, store)
	all := []keys.Key{{PK: "none", SK: "x"}}
	for i := range 50 {
		f.put(sample(i))
		all = append(all, f.encode(sample(i)).Key)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 200 {
				asked := make([]keys.Key, 1+rand.IntN(100))
				for i := range asked {
					asked[i] = all[rand.IntN(len(all))]
				}
				if err := sameRecords(t, f, asked); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	readers.Wait()
}

// sameRecords compares the records under the keys with those of the rows there.
func sameRecords(t *testing.T, f *fixture, asked []keys.Key) error {
	records := make([]record.Record, len(asked))
	if err := f.GetRecords(t.Context(), f.model, asked, false, records); err != nil {
		return err
	}
	rows, err := f.Get(t.Context(), f.model, asked, false)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if !bytes.Equal(records[i], row.Record) {
			return fmt.Errorf("under %v is the record %x, want %x", asked[i], records[i], row.Record)
		}
	}
	return nil
}
