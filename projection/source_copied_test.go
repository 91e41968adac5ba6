package projection_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
)

// copied is a copy of a log, which has and knows so many of its events while the log is away; the log is whole.
type copied struct {
	*memlog.Log
	has  uint64
	away atomic.Bool
	told chan struct{} // gets a value when somebody is told that the log is away
}

func (c *copied) Partitions(ctx context.Context) ([]string, error) {
	if c.away.Load() && c.has == 0 {
		return []string{"another"}, nil
	}
	return c.Log.Partitions(ctx)
}

func (c *copied) Head(ctx context.Context, partition string) (uint64, error) {
	if c.away.Load() {
		return c.has, nil
	}
	return c.Log.Head(ctx, partition)
}

func (c *copied) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if c.away.Load() && after >= c.has {
		return nil, nil
	}
	return c.Log.Read(ctx, partition, after, most)
}

func (c *copied) Current(context.Context, string) error {
	if !c.away.Load() {
		return nil
	}
	select {
	case c.told <- struct{}{}:
	default:
	}
	return errors.New("the log is away")
}

// TestACopyThatIsBehindTheRowsIsNoOtherLog: one process has folded events that the copy of another has not, since that
// one cannot reach the log now. It waits, and goes on when it can; it does not say that the log has lost them.
func TestACopyThatIsBehindTheRowsIsNoOtherLog(t *testing.T) {
	all := numbered(0, 9, "e")
	for _, has := range []uint64{0, 5, 7, 8} {
		store := keptStores["shared"]()
		if m := mismatch(t, partitioned(t, 1, all), store, 4); m != nil {
			t.Fatal(m)
		}
		c := &copied{Log: partitioned(t, 1, slices.Concat(all, numbered(9, 10, "e"))), has: has, told: make(chan struct{})}
		c.away.Store(true)
		r, err := projection.NewRunner(Projection("script"), c, open(t, store), quick())
		if err != nil {
			t.Fatal(err)
		}
		_, run := inBackground(t, r)
		select {
		case <-c.told:
		case err := <-run.done:
			t.Fatalf("the copy has %d of 9 events: the run has ended: %v", has, err)
		case <-time.After(30 * time.Second):
			t.Fatalf("the copy has %d of 9 events: nobody has asked whether that is all", has)
		}
		c.away.Store(false)
		if err := run.wait(); err != nil {
			t.Errorf("the copy had %d of 9 events, and the log is there again: %v", has, err)
		}
	}
}
