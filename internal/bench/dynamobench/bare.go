package dynamobench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/foldql/foldql/internal/bench/measurement"
)

// script is the requests of one fold: steps of requests that need not wait for each other, each after the step before.
type script [][]call

// scriptOf cuts recorded requests into steps: what a window reads, what it writes, its checkpoint. So the bare loop
// makes as many at a time as a fold of the same windows ever could.
func scriptOf(tape []recorded) (s script, err error) {
	last := ""
	for _, r := range tape {
		c, err := r.call()
		if err != nil {
			return nil, err
		}
		kind := r.operation
		if kind == "GetItem" || kind == "BatchGetItem" {
			kind = "Query"
		}
		if kind != last {
			s = append(s, nil)
		}
		last = kind
		s[len(s)-1] = append(s[len(s)-1], c)
	}
	return s, nil
}

// requests counts those of all scripts.
func requests(scripts []script) (n int) {
	for _, step := range slices.Concat(scripts...) {
		n += len(step)
	}
	return n
}

// playAll makes the requests of all scripts, beside each other, as many at a time as may be in flight.
func playAll(ctx context.Context, c *dynamodb.Client, scripts []script) error {
	flights := make(chan struct{}, inFlight)
	return measurement.Together(ctx, len(scripts), func(ctx context.Context, i int) error {
		return scripts[i].play(ctx, c, flights)
	})
}

func (s script) play(ctx context.Context, c *dynamodb.Client, flights chan struct{}) error {
	for _, step := range s {
		if err := playStep(ctx, c, step, flights); err != nil {
			return err
		}
	}
	return nil
}

func playStep(ctx context.Context, c *dynamodb.Client, step []call, flights chan struct{}) error {
	var next atomic.Int64
	return measurement.Together(ctx, min(len(step), inFlight), func(ctx context.Context, _ int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(step) || ctx.Err() != nil {
				return nil
			}
			flights <- struct{}{}
			err := step[i](ctx, c)
			<-flights
			if err != nil {
				return fmt.Errorf("repeat a recorded request: %w", err)
			}
		}
	})
}
