package drivertest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/record"
)

// BenchBatch is how many rows each durable batch of the bulk load has.
const BenchBatch = 10_000

// Bench measures a driver on n rows of about 200 bytes with one index entry each, which carries the row: a bulk load in
// durable batches of BenchBatch rows in random order of their keys, then point gets, batches of 100 gets, the same of
// records alone where the driver reads such, and pages of 20 rows of the index, on rows chosen at random. It reports
// rows/s, gets/s and pages/s.
func Bench(b *testing.B, n int, open func(b *testing.B) driver.Driver) {
	table := &driver.Table{
		Name: "Bench", PK: []int{0}, NoExpiry: true,
		Fields: []driver.Field{
			{Name: "id", Scalar: "ID"}, {Name: "place", Scalar: "String"}, {Name: "group", Scalar: "String"}, {Name: "text",
				Scalar: "String"},
		},
		Indexes: []driver.Index{{Name: "group", PK: []int{2}, SK: []int{1}}},
	}
	drv := open(b)
	defer func() {
		if err := drv.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	}()
	loaded := false
	load := func(b *testing.B) {
		b.Helper()
		bulkLoad(b, drv, table, n)
		loaded = true
	}
	b.Run("load", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			table.Generation++
			load(b)
		}
		b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "rows/s")
	})
	if !loaded {
		load(b)
	}
	b.Run("get", func(b *testing.B) { benchGet(b, drv, table, n, 1) })
	b.Run("get100", func(b *testing.B) { benchGet(b, drv, table, n, 100) })
	if reader, is := drv.(driver.RecordReader); is {
		b.Run("records100", func(b *testing.B) { benchRecords(b, reader, table, n, 100) })
	}
	b.Run("page20", func(b *testing.B) { benchPage(b, drv, table, n) })
}

// Rows of one partition of the index.
const benchGroup = 200

func benchID(i int) string { return fmt.Sprintf("row-%09d", i) }

func benchRow(t *driver.Table, i, n int) driver.Row {
	group, at := i%max(1, n/benchGroup), i/max(1, n/benchGroup)
	row := fixture.Fields{
		0: benchID(i), 1: fmt.Sprintf("%06d", at), 2: fmt.Sprintf("group-%07d", group), 3: fmt.Sprintf("%0128d", i),
	}.Row(t)
	row.Position = driver.Position{Partition: "0", Offset: uint64(i)}
	return row
}

func bulkLoad(b *testing.B, drv driver.Driver, table *driver.Table, n int) {
	b.Helper()
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for len(order) > 0 {
		size := min(BenchBatch, len(order))
		b.StopTimer() // making rows is not the driver's work
		batch := driver.Batch{Writes: make([]driver.Write, size)}
		for j, i := range order[:size] {
			batch.Writes[j] = driver.Write{Table: table, Row: benchRow(table, i, n)}
		}
		b.StartTimer()
		if err := drv.Apply(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		order = order[size:]
	}
}

func benchGet(b *testing.B, drv driver.Driver, table *driver.Table, n, size int) {
	rng := rand.New(rand.NewPCG(3, 4))
	b.ReportAllocs()
	done := 0
	for b.Loop() {
		ks := benchKeys(rng, n, size)
		rows, err := drv.Get(b.Context(), driver.Get{Table: table, Keys: ks})
		if err != nil || rows[0].Record == nil || rows[size-1].Record == nil {
			b.Fatalf("rows are missing, or %v", err)
		}
		done += size
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "gets/s")
}

// benchKeys are distinct.
func benchKeys(rng *rand.Rand, n, size int) []keys.Key {
	ks := make([]keys.Key, size)
	for i := range ks {
		ks[i].PK = benchID(rng.IntN(n/size)*size + i*7919%size)
	}
	return ks
}

func benchRecords(b *testing.B, drv driver.RecordReader, table *driver.Table, n, size int) {
	rng := rand.New(rand.NewPCG(3, 4))
	b.ReportAllocs()
	done, records := 0, make([]record.Record, size)
	for b.Loop() {
		err := drv.Records(b.Context(), driver.Get{Table: table, Keys: benchKeys(rng, n, size)}, records)
		if err != nil || records[0] == nil || records[size-1] == nil {
			b.Fatalf("records are missing, or %v", err)
		}
		done += size
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "gets/s")
}

func benchPage(b *testing.B, drv driver.Driver, table *driver.Table, n int) {
	const limit = 20
	rng := rand.New(rand.NewPCG(5, 6))
	b.ReportAllocs()
	pages := 0
	for b.Loop() {
		page, err := drv.Query(b.Context(), driver.Query{
			Table: table, Index: 0, PK: fmt.Sprintf("group-%07d", rng.IntN(max(1, n/benchGroup))), Reverse: true, Limit: limit,
		})
		if err != nil || len(page.Rows) != limit {
			b.Fatalf("a page of %d rows, or %v", len(page.Rows), err)
		}
		pages++
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}
