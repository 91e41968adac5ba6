package timelimit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp/internal/timelimit"
)

func ExampleWithTimeout() {
	ctx := timelimit.WithTimeout(context.Background(), time.Minute)
	fmt.Println(ctx.Err())
	ctx.End()
	fmt.Println(ctx.Err())
	// Output:
	// <nil>
	// context canceled
}

type name struct{}

// TestALimitedContextEndsAsOneOfTheStandardLibrary: with its time, its parent or by End; whoever waits for it, looks at
// it, derives from it, or comes when it has ended.
func TestALimitedContextEndsAsOneOfTheStandardLibrary(t *testing.T) {
	ends := map[string]func(cancelParent context.CancelCauseFunc, end func()){
		"nothing":      func(context.CancelCauseFunc, func()) {},
		"time":         func(context.CancelCauseFunc, func()) { time.Sleep(time.Hour) },
		"the parent":   func(cancel context.CancelCauseFunc, _ func()) { cancel(errors.New("gone")) },
		"End":          func(_ context.CancelCauseFunc, end func()) { end() },
		"time and End": func(_ context.CancelCauseFunc, end func()) { time.Sleep(time.Hour); end() },
	}
	// saw is what can be seen of a context that ends, by who begins to wait before or after that.
	saw := func(make func(context.Context, time.Duration) (context.Context, func()), ending string, early bool) string {
		parent, cancel := context.WithCancelCause(context.WithValue(context.Background(), name{}, "value"))
		ctx, end := make(parent, time.Minute)
		derived := context.Background()
		if early {
			var stop context.CancelFunc
			derived, stop = context.WithCancel(ctx)
			defer stop()
		}
		ends[ending](cancel, end)
		err, cause := ctx.Err(), context.Cause(ctx)
		closed := func(c context.Context) bool {
			synctest.Wait()
			select {
			case <-c.Done():
				return true
			default:
				return false
			}
		}
		late, stop := context.WithCancel(ctx)
		defer stop()
		deadline, _ := ctx.Deadline()
		text := fmt.Sprint(err, cause, closed(ctx), closed(derived), derived.Err(), context.Cause(derived), closed(late),
			late.Err(), ctx.Err(), ctx.Value(name{}), deadline)
		end()
		cancel(nil)
		return text
	}
	standard := func(ctx context.Context, d time.Duration) (context.Context, func()) {
		c, cancel := context.WithTimeout(ctx, d)
		return c, cancel
	}
	limited := func(ctx context.Context, d time.Duration) (context.Context, func()) {
		c := timelimit.WithTimeout(ctx, d)
		return c, c.End
	}
	for ending := range ends {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, waited for before %t", ending, early), func(t *testing.T) {
				var want, got string // each in a time of its own, which begins alike
				synctest.Test(t, func(*testing.T) { want = saw(standard, ending, early) })
				synctest.Test(t, func(*testing.T) { got = saw(limited, ending, early) })
				if got != want {
					t.Errorf("it is seen as\n%s, want\n%s", got, want)
				}
			})
		}
	}
}

// TestADeadlineOfTheParentCounts where it is the earlier one.
func TestADeadlineOfTheParentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx := timelimit.WithTimeout(parent, time.Minute)
		defer ctx.End()
		time.Sleep(2 * time.Second)
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if at, _ := ctx.Deadline(); time.Since(at) != time.Second {
			t.Error(at)
		}
	})
}
