package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls do n times, as many at a time as requests of its priority may be in flight. The first error cancels what
// is not done yet. A panic in one of them is raised in the caller: in a goroutine of its own it would end the process.
func (c *Client) Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var workers sync.WaitGroup
	var once sync.Once
	var first error
	var panicked any
	for range min(n, priorityOf(ctx).room(c.Options.Concurrency)) {
		workers.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					once.Do(func() { panicked = fmt.Sprintf("%v\n%s", v, debug.Stack()) })
					cancel()
				}
			}()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(inner, i); err != nil {
					once.Do(func() { first = err })
					cancel()
					return
				}
			}
		})
	}
	workers.Wait()
	if panicked != nil {
		panic(panicked)
	}
	return first
}
