// Package dynamobench measures the fold and queries in DynamoDB Local beside a bare loop over the SDK.
package dynamobench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// dynamoSize is the shop that is folded into DynamoDB Local, which takes some thousand writes a second.
var dynamoSize = sample.Size{Customers: 1000, Products: 500, Orders: 300, Statuses: 5, Lines: 5}

// engine is DynamoDB Local, started for the benchmark.
type engine struct {
	*dynamolocal.Process
	accounts int
}

// newAccount is a new one, without tables.
func (e *engine) newAccount() account {
	e.accounts++
	return account{url: e.URL, key: fmt.Sprintf("BENCH%d", e.accounts)}
}

// Run measures folds and queries in DynamoDB beside a bare loop over the SDK.
func Run(ctx context.Context, out io.Writer, rounds, events int, d, delay time.Duration) (err error) {
	p, err := dynamolocal.Run(ctx, dynamolocal.Options{Engine: dynamolocal.Local})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	peers.Size = dynamoSize
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
