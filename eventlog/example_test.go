package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
)

func placed(id, data string) eventlog.Event {
	return eventlog.Event{ID: id, Source: "/shop", Type: "OrderPlaced", Subject: "order-" + id, Data: []byte(data)}
}

// An event that is sent again changes nothing; another one under its name is refused, and the batch with it.
func ExampleLog() {
	ctx := context.Background()
	var log eventlog.Log = memlog.New(memlog.Options{})
	defer log.Close()
	for _, batch := range [][]eventlog.Event{
		{placed("1", `{"total": 10}`), placed("2", `{"total": 20}`)},
		{placed("2", `{"total":20}`), placed("3", `{"total": 30}`)},
		{placed("4", `{"total": 40}`), placed("1", `{"total": 99}`)},
	} {
		at, err := log.Append(ctx, batch)
		if conflict := (*eventlog.ConflictError)(nil); errors.As(err, &conflict) {
			fmt.Println("refused for event", conflict.Index)
			continue
		}
		fmt.Println(at, err)
	}
	// Output:
	// [{0 1 false} {0 2 false}] <nil>
	// [{0 2 true} {0 3 false}] <nil>
	// refused for event 1
}

// A reader takes what there is, a window at a time, and waits for more only when it has it all.
func ExampleSource() {
	ctx := context.Background()
	log := memlog.New(memlog.Options{})
	defer log.Close()
	if _, err := log.Append(ctx, []eventlog.Event{placed("1", "{}"), placed("2", "{}"), placed("3", "{}")}); err != nil {
		fmt.Println(err)
		return
	}
	log.End()

	const partition, window = "0", 2
	var source eventlog.Source = log
	at := eventlog.Offsets{}
	for {
		events, err := source.Read(ctx, partition, at[partition], window)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, e := range events {
			fmt.Print(e.Offset, " ", e.Subject, "; ")
			at[partition] = e.Offset
		}
		if len(events) > 0 {
			fmt.Println("committed up to", at[partition])
			continue
		}
		if err := source.Wait(ctx, at); err != nil {
			fmt.Println(err == io.EOF)
			return
		}
	}
	// Output:
	// 1 order-1; 2 order-2; committed up to 2
	// 3 order-3; committed up to 3
	// true
}
