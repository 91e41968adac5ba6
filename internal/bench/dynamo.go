package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// dynamoSize is the shop that is folded into DynamoDB Local, which takes some thousand writes a second.
var dynamoSize = sample.Size{Customers: 1000, Products: 500, Orders: 300, Statuses: 5, Lines: 5}

// engine is DynamoDB Local, started for the benchmark.
type engine struct {
	*dynamolocal.Process
	places int
}

// place is a new one, without tables.
func (e *engine) place() place {
	e.places++
	return place{url: e.URL, key: fmt.Sprintf("BENCH%d", e.places)}
}

// benchDynamo measures folds and queries in DynamoDB beside a bare loop over the SDK.
func benchDynamo(ctx context.Context, out io.Writer, rounds, events int, d, delay time.Duration) (err error) {
	p, err := dynamolocal.Run(ctx, dynamolocal.Options{Engine: dynamolocal.Local})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	size = dynamoSize
	e := &engine{Process: p}
	if delay > 0 {
		away, err := delayed(e.URL, delay)
		if err != nil {
			return err
		}
		defer away.Close()
		e.URL = away.URL
		fmt.Fprintf(out, "every request is delayed by %v\n", delay)
	}
	if err := e.flatMemory(ctx, out, events); err != nil { // first, while the process holds nothing else
		return err
	}
	folded, err := e.foldBeside(ctx, out, rounds)
	if err != nil {
		return err
	}
	return e.queriesBeside(ctx, out, folded, d)
}
