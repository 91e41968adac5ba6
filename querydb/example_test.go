package querydb_test

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// cities is a model as the generator writes it: a country's cities by name.
var cities = &querydb.Model{
	Name: "City", Table: "City", Version: "1",
	Fields: []querydb.Field{{Name: "country", Scalar: "ID"}, {Name: "name", Scalar: "String"}},
	PK: querydb.Half{
		Layout: keys.Layout{Segments: []keys.Segment{{Field: "country", Kind: keys.KindString}}}, Fields: []int{0},
	},
	SK: querydb.Half{
		Layout: keys.Layout{Segments: []keys.Segment{{Field: "name", Kind: keys.KindString}}}, Fields: []int{1},
	},
	TTL: -1, CreatedAt: -1, UpdatedAt: -1,
}

// Rows are written in batches and read by key or by range.
func Example() {
	ctx := context.Background()
	db, err := querydb.Open(ctx, memstore.New(), []*querydb.Model{cities}, querydb.Config{})
	if err != nil {
		panic(err)
	}
	defer db.Close()

	var batch querydb.Batch
	for _, name := range []string{"Bonn", "Aachen", "Bremen"} {
		var b record.Builder
		b.Begin(2)
		b.String("de")
		b.String(name)
		rec, _, err := b.Finish()
		if err != nil {
			panic(err)
		}
		row := querydb.Row{Key: keys.Key{PK: "de", SK: name}, Record: rec}
		batch.Writes = append(batch.Writes, querydb.Write{Model: cities, Row: row})
	}
	if err := db.Apply(ctx, batch); err != nil {
		panic(err)
	}

	page, err := db.Query(ctx, cities, querydb.Query{
		Index: driver.Primary, PK: "de", Range: keys.Range{Op: keys.RangePrefix, Lo: "B"}, Limit: 10,
	})
	if err != nil {
		panic(err)
	}
	for _, row := range page.Rows {
		fmt.Printf("%s\n", row.Record.JSON(1))
	}
	// Output:
	// "Bonn"
	// "Bremen"
}
