package shared_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// TestASharedSourceKeepsThePromisesOfASource over a log that grows.
func TestASharedSourceKeepsThePromisesOfASource(t *testing.T) {
	for _, partitions := range []int{1, 5} {
		sourcetest.Run(t, func(*testing.T) sourcetest.Place {
			log := memlog.New(memlog.Options{Partitions: partitions})
			return sourcetest.Place{
				Add: func(t testing.TB, events []eventlog.Event) {
					t.Helper()
					if _, err := log.Append(t.Context(), events); err != nil {
						t.Fatal(err)
					}
				},
				Open:  func(testing.TB) eventlog.Source { return shared.New(log, 0) },
				Tails: true,
			}
		})
	}
}

// log returns a log of n events, and a source of it that counts the reads.
func log(t *testing.T, n int) *counted {
	t.Helper()
	l := memlog.New(memlog.Options{})
	if _, err := l.Append(t.Context(), sourcetest.Events(n)); err != nil {
		t.Fatal(err)
	}
	return &counted{Log: l}
}

// counted counts reads, and calls amid, where there is one, before it carries one out.
type counted struct {
	*memlog.Log
	reads atomic.Int64
	amid  func(n int64) error
}

func (c *counted) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	n := c.reads.Add(1)
	if c.amid != nil {
		if err := c.amid(n); err != nil {
			return nil, err
		}
	}
	return c.Log.Read(ctx, partition, after, most)
}

// hold has the first n reads wait until release is called.
func (c *counted) hold(n int64) (release func()) {
	held := make(chan struct{})
	c.amid = func(read int64) error {
		if read <= n {
			<-held
		}
		return nil
	}
	return func() { close(held) }
}

func mustRead(t testing.TB, s eventlog.Source, after uint64, most int) []eventlog.Event {
	t.Helper()
	events, err := s.Read(t.Context(), "0", after, most)
	if err != nil {
		t.Fatalf("read after %d: %v", after, err)
	}
	return events
}

func TestWhatOneReaderHasReadTheNextOneNeedNot(t *testing.T) {
	src := log(t, 3000)
	s := shared.New(src, 0)
	all := mustRead(t, s, 0, 3000)
	if len(all) != 3000 {
		t.Fatalf("%d events", len(all))
	}
	for _, after := range []uint64{0, 1, 1023, 1024, 2999} {
		got := mustRead(t, s, after, 7)
		if len(got) == 0 || len(got) > 7 || &got[0] != &all[after] {
			t.Errorf("after %d: %d events in other memory than the first reader's", after, len(got))
		}
	}
	if n := src.reads.Load(); n != 1 {
		t.Errorf("the source was read %d times, want once", n)
	}
}

// TestASmallReadServesTheReadersThatFollow: whoever takes one event at a time has more of them read at once.
func TestASmallReadServesTheReadersThatFollow(t *testing.T) {
	src := log(t, 1000)
	s := shared.New(src, 0)
	for range 3 {
		for after := uint64(0); after < 1000; after++ {
			if got := mustRead(t, s, after, 1); len(got) != 1 || got[0].Offset != after+1 {
				t.Fatalf("after %d: %v", after, got)
			}
		}
	}
	if n := src.reads.Load(); n != 4 {
		t.Errorf("the source was read %d times, want 4", n)
	}
}

// most is a log that notes how many events it is asked for.
type most struct {
	*memlog.Log
	asked []int
}

func (m *most) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	m.asked = append(m.asked, n)
	return m.Log.Read(ctx, partition, after, n)
}

// TestAnEventThatIsLookedUpIsReadAlone: nobody reads on there, until somebody does.
func TestAnEventThatIsLookedUpIsReadAlone(t *testing.T) {
	src := &most{Log: log(t, 1000).Log}
	s := shared.New(src, 0)
	for _, after := range []uint64{700, 300, 500, 501} {
		if got := mustRead(t, s, after, 1); len(got) != 1 || got[0].Offset != after+1 {
			t.Fatalf("after %d: %v", after, got)
		}
	}
	if want := []int{1, 1, 1, 256}; !slices.Equal(src.asked, want) {
		t.Errorf("the source was asked for %d events, want %d", src.asked, want)
	}
}

// TestEventsThatComeOneByOneAreFoundAgain, by a reader that is behind and one that has just begun.
func TestEventsThatComeOneByOneAreFoundAgain(t *testing.T) {
	src := log(t, 0)
	s := shared.New(src, 0)
	events := sourcetest.Events(600)
	for i := range events {
		if _, err := src.Append(t.Context(), events[i:i+1]); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, s, uint64(i), 10); len(got) != 1 {
			t.Fatalf("after %d: %d events", i, len(got))
		}
	}
	before := src.reads.Load()
	var offsets []uint64
	for after := uint64(0); after < 600; after = offsets[len(offsets)-1] {
		for _, e := range mustRead(t, s, after, 1000) {
			offsets = append(offsets, e.Offset)
		}
	}
	for i, offset := range offsets {
		if offset != uint64(i)+1 {
			t.Fatalf("event %d has the offset %d", i+1, offset)
		}
	}
	if n := src.reads.Load(); n != before || len(offsets) != 600 {
		t.Errorf("%d events, and the source was read %d times more", len(offsets), n-before)
	}
}

// TestNoMoreIsKeptThanMayBe, and a reader that is far behind reads the same.
func TestNoMoreIsKeptThanMayBe(t *testing.T) {
	src := log(t, 5000)
	s := shared.New(src, 100<<10)
	for range 2 {
		before := src.reads.Load()
		n := 0
		for {
			got := mustRead(t, s, uint64(n), 500)
			if len(got) == 0 {
				break
			}
			for i := range got {
				if n++; got[i].Offset != uint64(n) {
					t.Fatalf("event %d has the offset %d", n, got[i].Offset)
				}
			}
		}
		if n != 5000 || src.reads.Load()-before < 10 {
			t.Errorf("%d events by %d reads, want 5000, and hardly any of them from memory", n, src.reads.Load()-before)
		}
	}
}

// TestReadersWhoWaitForTheSameHaveItReadOnce: a source that is far away is asked once for all projections.
func TestReadersWhoWaitForTheSameHaveItReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 10)
		answer := src.hold(10)
		s := shared.New(src, 0)
		var readers sync.WaitGroup
		for range 50 {
			readers.Go(func() {
				if got := mustRead(t, s, 0, 10); len(got) != 10 {
					t.Errorf("%d events", len(got))
				}
			})
		}
		synctest.Wait()
		answer()
		readers.Wait()
		if n := src.reads.Load(); n != 1 {
			t.Errorf("the source was read %d times, want once", n)
		}
	})
}

// TestWhatOneReaderIsAboutToFindAnotherDoesNotReadToo: they rarely begin at the same event.
func TestWhatOneReaderIsAboutToFindAnotherDoesNotReadToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 1000)
		answer := src.hold(10)
		s := shared.New(src, 0)
		var readers sync.WaitGroup
		for _, after := range []uint64{100, 100, 300, 450} {
			readers.Go(func() {
				if got := mustRead(t, s, after, 400); len(got) == 0 || got[0].Offset != after+1 || len(got) > 400 {
					t.Errorf("after %d: %d events", after, len(got))
				}
			})
			synctest.Wait()
		}
		readers.Go(func() { mustRead(t, s, 0, 10) }) // this one is behind
		synctest.Wait()
		answer()
		readers.Wait()
		if n := src.reads.Load(); n != 2 {
			t.Errorf("the source was read %d times, want twice", n)
		}
	})
}

// TestAReaderFindsWhatWasThereWhenItBegan, though it has joined a read that began before.
func TestAReaderFindsWhatWasThereWhenItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 0)
		answer := src.hold(1)
		late := &emptyFirst{counted: src}
		s := shared.New(late, 0)
		var readers sync.WaitGroup
		readers.Go(func() { mustRead(t, s, 0, 10) }) // of this the answer is known already: nothing
		synctest.Wait()
		if _, err := src.Append(t.Context(), sourcetest.Events(1)); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			readers.Go(func() {
				if got := mustRead(t, s, 0, 10); len(got) != 1 {
					t.Errorf("%d events, want the one that there was", len(got))
				}
			})
		}
		synctest.Wait()
		answer()
		readers.Wait()
		if n := src.reads.Load(); n != 2 {
			t.Errorf("the source was read %d times, want twice", n)
		}
	})
}

// emptyFirst answers the first read with nothing, whatever came meanwhile.
type emptyFirst struct {
	*counted
	first atomic.Bool
}

func (e *emptyFirst) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	first := e.first.CompareAndSwap(false, true)
	events, err := e.counted.Read(ctx, partition, after, most)
	if first {
		return nil, err
	}
	return events, err
}

// TestAReaderThatGivesUpLeavesTheOthersTheirs: the end of its context is none of theirs.
func TestAReaderThatGivesUpLeavesTheOthersTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 10)
		ctx, cancel := context.WithCancel(t.Context())
		src.amid = func(n int64) error {
			if n == 1 {
				<-ctx.Done()
			}
			return nil
		}
		s := shared.New(src, 0)
		var readers sync.WaitGroup
		readers.Go(func() {
			if _, err := s.Read(ctx, "0", 0, 10); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that gives up: %v", err)
			}
		})
		synctest.Wait()
		readers.Go(func() {
			if got := mustRead(t, s, 0, 10); len(got) != 10 {
				t.Errorf("%d events", len(got))
			}
		})
		gone, leave := context.WithCancel(t.Context())
		readers.Go(func() {
			if _, err := s.Read(gone, "0", 0, 10); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that gives up while it waits: %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		cancel()
		readers.Wait()
	})
}

// TestATimeoutOfTheSourceIsTheErrorOfAllWhoWait: they do not ask one after the other, and wait for one more each.
func TestATimeoutOfTheSourceIsTheErrorOfAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 10)
		src.amid = func(int64) error { time.Sleep(5 * time.Second); return context.DeadlineExceeded }
		s := shared.New(src, 0)
		var readers sync.WaitGroup
		began := time.Now()
		for range 50 {
			readers.Go(func() {
				if _, err := s.Read(t.Context(), "0", 0, 10); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the error is %v, want that of the source", err)
				}
			})
		}
		readers.Wait()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestNothingIsKeptThatWasBeingReadWhenThePartitionBecameAnother: whoever begins anew must not get it.
func TestNothingIsKeptThatWasBeingReadWhenThePartitionBecameAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := log(t, 1000)
		answer := src.hold(1)
		s := shared.New(src, 0)
		var readers sync.WaitGroup
		readers.Go(func() { mustRead(t, s, 0, 300) })
		synctest.Wait()
		src.amid = func(int64) error { return &eventlog.ReplacedError{Partition: "0", Reason: "it was made anew"} }
		if _, err := s.Read(t.Context(), "0", 900, 10); !eventlog.Replaced(err) {
			t.Errorf("the error is %v, want that the partition is another", err)
		}
		src.amid = nil
		answer()
		readers.Wait()
		mustRead(t, s, 0, 300)
		if n := src.reads.Load(); n != 3 {
			t.Errorf("the source was read %d times, want 3", n)
		}
	})
}

// TestAnErrorIsThatOfAllWhoWait, and nothing is kept of a partition that is another.
func TestAnErrorIsThatOfAllWhoWait(t *testing.T) {
	src := log(t, 300)
	s := shared.New(src, 0)
	mustRead(t, s, 0, 300)
	replaced := &eventlog.ReplacedError{Partition: "0", Reason: "it was made anew"}
	src.amid = func(int64) error { return replaced }
	if got := mustRead(t, s, 10, 1); len(got) != 1 {
		t.Fatalf("%d events", len(got)) // nobody has asked the source
	}
	for _, after := range []uint64{300, 10} {
		if _, err := s.Read(t.Context(), "0", after, 1); !eventlog.Replaced(err) {
			t.Errorf("after %d: %v, want that the partition is another", after, err)
		}
	}
}

func TestAClosedSourceGivesOutNothingFromMemory(t *testing.T) {
	s := shared.New(log(t, 10), 0)
	mustRead(t, s, 0, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context(), "0", 0, 10); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("the error is %v, want ErrClosed", err)
	}
}
