package driver_test

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// What a driver is asked for, and what it answers: it knows keys and records, and nothing of models.
func ExampleDriver() {
	ctx := context.Background()
	var store driver.Driver = memstore.New()
	defer store.Close()
	cities := &driver.Table{
		Name: "City", Sorted: true, PK: []int{0}, SK: []int{1},
		Fields: []driver.Field{{Name: "country", Scalar: "ID"}, {Name: "name", Scalar: "String"}},
	}

	var batch driver.Batch
	var b record.Builder
	for i, name := range []string{"Lyon", "Paris", "Nice"} {
		b.Begin(len(cities.Fields))
		b.String("fr")
		b.String(name)
		rec, _, err := b.Finish()
		if err != nil {
			fmt.Println(err)
			return
		}
		batch.Writes = append(batch.Writes, driver.Write{Table: cities, Kind: driver.Put, Row: driver.Row{
			Key: keys.Key{PK: "fr", SK: name}, Record: rec, Position: driver.Position{Partition: "0", Offset: uint64(i + 1)},
		}})
	}
	for range 2 { // a batch that is applied again changes nothing
		if err := store.Apply(ctx, batch); err != nil {
			fmt.Println(err)
			return
		}
	}

	q := driver.Query{Table: cities, Index: driver.Primary, PK: "fr", Limit: 2}
	for {
		page, err := store.Query(ctx, q)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, row := range page.Rows {
			fmt.Printf("%s from event %d; ", row.Record.JSON(1), row.Position.Offset)
			q.Start = &page.Starts[i]
		}
		fmt.Println("more:", page.More)
		if !page.More {
			return
		}
	}
	// Output:
	// "Lyon" from event 1; "Nice" from event 3; more: true
	// "Paris" from event 2; more: false
}
