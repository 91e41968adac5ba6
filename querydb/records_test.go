package querydb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// fewAtOnce reads few records in one call.
type fewAtOnce struct {
	driver.Driver
	driver.RecordReader
	largest int
}

func (f *fewAtOnce) MaxGet() int { return 7 }

func (f *fewAtOnce) Records(ctx context.Context, g driver.Get, records []record.Record) error {
	f.largest = max(f.largest, len(g.Keys))
	return f.RecordReader.Records(ctx, g, records)
}

// TestRecordsAreThoseOfTheRows on every store, of keys that repeat, that no row has, and of rows that have expired;
// and what is counted is the same.
func TestRecordsAreThoseOfTheRows(t *testing.T) {
	embedded := openPebble(t)
	few := &fewAtOnce{Driver: openPebble(t)}
	few.RecordReader = few.Driver.(driver.RecordReader)
	for name, drv := range map[string]driver.Driver{
		"memory": memstore.New(), "several writers": memstore.NewMultiWriter(memstore.Options{}),
		"embedded": embedded, "few at once": few,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, drv)
			all := []keys.Key{{PK: "none", SK: "x"}}
			for i := range 50 {
				r := sample(i)
				if i%5 == 0 {
					r.Until = noon.Add(time.Duration(i-25) * time.Hour)
				}
				f.put(r)
				all = append(all, f.encode(r).Key)
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			for range 200 {
				asked := make([]keys.Key, 1+random.IntN(100))
				for i := range asked {
					asked[i] = all[random.IntN(len(all))]
				}
				sameRecords(t, f, querydb.Get{Keys: asked})
				random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				sameRecords(t, f, querydb.Get{Keys: all[:1+random.IntN(len(all))], Distinct: true, Consistent: true})
			}
		})
	}
	if few.largest != few.MaxGet() {
		t.Errorf("%d records are read at once, want %d", few.largest, few.MaxGet())
	}
}

// sameRecords compares the records under the keys with those of the rows there. They are set whatever was there.
func sameRecords(t *testing.T, f *fixture, g querydb.Get) {
	t.Helper()
	before := f.stats()
	rows, err := f.Get(t.Context(), f.model, g.Keys, g.Consistent)
	if err != nil {
		t.Fatal(err)
	}
	between := f.stats()
	records := slices.Repeat([]record.Record{{}}, len(g.Keys)+1)
	if err := f.GetRecords(t.Context(), f.model, g, records); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if (records[i] == nil) != (row.Record == nil) || !slices.Equal(records[i], row.Record) {
			t.Fatalf("under %v is the record %x, want %x", g.Keys[i], records[i], row.Record)
		}
	}
	if records[len(g.Keys)] == nil {
		t.Fatal("a record is set that was not asked for")
	}
	after := f.stats()
	gets, asked := between.Gets-before.Gets, between.KeysRequested-before.KeysRequested
	if after.Gets-between.Gets != gets || after.KeysRequested-between.KeysRequested != asked || asked == 0 {
		t.Fatalf("%d reads of %d keys are counted for records, and %d of %d for rows", after.Gets-between.Gets,
			after.KeysRequested-between.KeysRequested, gets, asked)
	}
}

// small is a budget for a few rows.
type small int

func (s *small) Take(bytes int) error {
	if *s -= small(bytes); *s < 0 {
		return errors.New("nothing is left")
	}
	return nil
}

// TestAReadThatFailsLeavesNoRecords, not those that it has come to, and counts no keys.
func TestAReadThatFailsLeavesNoRecords(t *testing.T) {
	for _, drv := range []driver.Driver{memstore.New(), openPebble(t)} {
		t.Run(fmt.Sprintf("%T", drv), func(t *testing.T) {
			f := newFixture(t, drv)
			var ks []keys.Key
			for i := range 10 {
				f.put(sample(i))
				ks = append(ks, f.encode(sample(i)).Key)
			}
			records, before := make([]record.Record, len(ks)), f.stats()
			budget := small(1500)
			err := f.GetRecords(driver.WithBudget(t.Context(), &budget), f.model, querydb.Get{Keys: ks}, records)
			if !errors.Is(err, driver.ErrOverBudget) {
				t.Fatalf("%v, want ErrOverBudget", err)
			}
			if slices.ContainsFunc(records, func(rec record.Record) bool { return rec != nil }) {
				t.Errorf("records %q are left", records)
			}
			if after := f.stats(); after.Gets != before.Gets+1 || after.KeysRequested != before.KeysRequested ||
				after.Errors != before.Errors {
				t.Errorf("counted is %+v after %+v", after, before)
			}
			if err := f.GetRecords(t.Context(), f.model, querydb.Get{Keys: []keys.Key{{}}}, records); !errors.Is(err,
				querydb.ErrInvalid) {
				t.Errorf("a key that no row can have: %v, want ErrInvalid", err)
			}
		})
	}
}
