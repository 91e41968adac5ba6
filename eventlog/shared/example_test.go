package shared_test

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/shared"
)

// Both readers get the events that the first one has had read.
func Example() {
	ctx := context.Background()
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(ctx, []eventlog.Event{{ID: "1", Source: "shop", Type: "OrderPlaced"}}); err != nil {
		panic(err)
	}
	source := shared.New(log, 0)
	for _, reader := range []string{"orders", "customers"} {
		events, err := source.Read(ctx, "0", 0, 100)
		if err != nil {
			panic(err)
		}
		fmt.Println(reader, "reads", events[0].Type)
	}
	// Output:
	// orders reads OrderPlaced
	// customers reads OrderPlaced
}
