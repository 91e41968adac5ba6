package measurement

import (
	"context"
	"sync"
)

// Together does n things at once; the first error ends them all.
func Together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
