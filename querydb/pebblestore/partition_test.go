package pebblestore_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// TestAHugePartitionIsDeletedInBoundedMemory: what it takes is the keys of the rows, not the rows.
func TestAHugePartitionIsDeletedInBoundedMemory(t *testing.T) {
	if testing.Short() || pebblestore.Raced {
		t.Skip("writes 100 MB, and measures memory that the race detector takes too")
	}
	const rows, each, most = 100_000, 1000, 64 << 20
	table := &driver.Table{
		Name: "Huge", Sorted: true, PK: []int{0}, SK: []int{1},
		Fields:  []driver.Field{{Name: "pk", Scalar: "ID"}, {Name: "sk", Scalar: "String"}, {Name: "text", Scalar: "String"}},
		Indexes: []driver.Index{{Name: "bySK", PK: []int{1}, SK: []int{0}, Projected: []int{0, 1}}},
	}
	s := open(t, pebblestore.Options{Dir: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	text := strings.Repeat("x", each)
	for i := 0; i < rows; {
		var b driver.Batch
		for range rows / 20 {
			sk := fmt.Sprintf("%08d", i)
			row := driver.Row{Key: keys.Key{PK: "p", SK: sk}, Record: newRecord("p", sk, text)}
			row.Indexes = []driver.IndexKey{{Key: keys.Key{PK: sk, SK: "p"}, HasPK: true, HasSK: true}}
			b.Writes = append(b.Writes, driver.Write{Table: table, Row: row})
			i++
		}
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	gone := driver.Write{Table: table, Kind: driver.DeletePartition, Row: driver.Row{Key: keys.Key{PK: "p"}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{gone}}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d rows of %d bytes: %d KiB allocated in all", rows, each, took>>10)
	if took > most {
		t.Errorf("the delete of %d rows of %d bytes allocates %d MiB, want at most %d", rows, each, took>>20, most>>20)
	}
	page, err := s.Query(t.Context(), driver.Query{Table: table, Index: driver.Primary, PK: "p", Limit: 1,
		Consistent: true})
	if err != nil || len(page.Rows) != 0 {
		t.Errorf("%d rows are left, %v", len(page.Rows), err)
	}
}
