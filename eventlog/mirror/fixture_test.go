package mirror

import (
	"context"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// kept is a source that outlives those who copy it.
type kept struct{ eventlog.Source }

func (kept) Close() error { return nil }

func (k kept) Unwrap() eventlog.Source { return k.Source }

func open(t testing.TB, o Options) *Mirror {
	t.Helper()
	m, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// caughtUp is a mirror whose reads come when all is copied that the source has.
type caughtUp struct {
	*Mirror
	src eventlog.Source
}

func (c caughtUp) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	c.catchUp(ctx)
	return c.Mirror.Read(ctx, name, after, most)
}

func (c caughtUp) Partitions(ctx context.Context) ([]string, error) {
	c.catchUp(ctx)
	return c.Mirror.Partitions(ctx)
}

// catchUp waits until all that the source has is copied, or nothing more is.
func (c caughtUp) catchUp(ctx context.Context) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for ctx.Err() == nil && !c.state.isClosed() && c.state.failure() == nil && !c.hasAll(ctx) {
		<-look.C
	}
}

func (c caughtUp) hasAll(ctx context.Context) bool {
	names, err := c.src.Partitions(ctx)
	for i := 0; err == nil && i < len(names); i++ {
		var head uint64
		head, err = c.src.Head(ctx, names[i])
		if p, there := c.state.at(names[i]); err == nil && (!there || p.Through < head && p.err == nil) {
			return false
		}
	}
	return true
}

// until waits until it holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(30 * time.Second); !holds(); <-look.C {
		if time.Now().After(end) {
			t.Fatalf("not %s within 30 s", what)
		}
	}
}

// drain reads all of a partition that follows an offset, as a projection does.
func drain(t testing.TB, s eventlog.Source, name string, after uint64) (all []eventlog.Event) {
	t.Helper()
	for {
		events, err := s.Read(t.Context(), name, after, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) > 0 {
			all, after = append(all, events...), events[len(events)-1].Offset
			continue
		}
		through, err := eventlog.EmptyThrough(t.Context(), s, name, after)
		if err != nil {
			t.Fatal(err)
		}
		if through == after {
			return all
		}
		after = through
	}
}
