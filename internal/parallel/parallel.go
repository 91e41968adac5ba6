// Package parallel makes calls at the same time.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, at most limit at a time; a single call is made in place. A panic of one call
// becomes the caller's, when the others have ended.
func Each(n, limit int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		failed atomic.Pointer[any]
	)
	for range min(n, limit) {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					failed.Store(&r)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
