package pebblestore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// lend reads a page that no cache keeps.
func lend(t *testing.T, s *Store, q driver.Query) []uint64 {
	t.Helper()
	q.Table = listed
	lent, err := s.Lend(t.Context(), q)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer lent.GiveBack()
	return numbersOf(t, *lent.Page())
}

// idle is the iterator that is kept of the table.
func idle(t *testing.T, s *Store) *iterator {
	t.Helper()
	s.iterators.mu.Lock()
	defer s.iterators.mu.Unlock()
	return s.iterators.idle[s.tables.find(listed)]
}

// TestAnIteratorIsUsedAgainUntilACommitBegins, by pages of whatever partition, and is closed when it is idle.
func TestAnIteratorIsUsedAgainUntilACommitBegins(t *testing.T) {
	s := openCached(t, Options{})
	for n, pk := range []string{"p", "q"} {
		applyAll(t, s, put(member(keys.Key{PK: pk, SK: "1"}, uint64(n), "g")))
	}
	first := driver.Query{Index: driver.Primary, PK: "p", Limit: 10}
	second := driver.Query{Index: driver.Primary, PK: "q", Limit: 10}
	if got := lend(t, s, first); len(got) != 1 || got[0] != 0 {
		t.Fatalf("the first partition has %d", got)
	}
	is := idle(t, s)
	if got := lend(t, s, second); len(got) != 1 || got[0] != 1 {
		t.Errorf("the second partition has %d", got)
	}
	if again := idle(t, s); again != is && is != nil && again != nil && again.opened.Sub(is.opened) < mostIdle {
		t.Error("another iterator was made")
	}
	applyAll(t, s, put(member(keys.Key{PK: "q", SK: "2"}, 2, "g")))
	if got := lend(t, s, second); len(got) != 2 {
		t.Errorf("after a commit the second partition has %d", got)
	}
	if is = idle(t, s); is != nil {
		s.iterators.retire(is)
		if idle(t, s) != nil {
			t.Error("an iterator is kept that was to end")
		}
		s.iterators.retire(is) // its timer, when it was taken and closed meanwhile
	}
	lend(t, s, first) // the store is closed with one that is idle
}

// TestEveryPageShowsWhatWasCommittedBefore, whichever iterator reads it.
func TestEveryPageShowsWhatWasCommittedBefore(t *testing.T) {
	s := openCached(t, Options{})
	key := keys.Key{PK: "p", SK: "1"}
	applyAll(t, s, put(member(key, 0, "g")))
	var acknowledged atomic.Uint64
	var writing atomic.Bool
	writing.Store(true)
	var readers sync.WaitGroup
	for _, q := range []driver.Query{ofTable, ofGroup, {Index: driver.Primary, PK: "p", Limit: 10, Reverse: true}} {
		readers.Go(func() {
			for last := uint64(0); writing.Load() && !t.Failed(); {
				least := max(last, acknowledged.Load())
				got := lend(t, s, q)
				if len(got) != 1 || got[0] < least {
					t.Errorf("a page has the numbers %d, and %d was there before", got, least)
					return
				}
				last = got[0]
			}
		})
	}
	for n := range uint64(500) {
		applyAll(t, s, put(member(key, n+1, "g")))
		acknowledged.Store(n + 1)
	}
	writing.Store(false)
	readers.Wait()
}

// TestARequestThatEndsDoesNotEndTheReadsOfOthers, which may use the iterator that was made for it, while many of them
// read blocks of files that are not in memory.
func TestARequestThatEndsDoesNotEndTheReadsOfOthers(t *testing.T) {
	s := openCached(t, Options{CacheBytes: 1 << 20})
	const partitions = 2000
	var writes []driver.Write
	for n := range uint64(partitions) {
		writes = append(writes, put(member(keys.Key{PK: fmt.Sprint("p", n), SK: strings.Repeat("s", 500)}, n, "g")))
	}
	applyAll(t, s, writes...)
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for n := range partitions {
				ctx, cancel := context.WithCancel(t.Context())
				lent, err := s.Lend(ctx, driver.Query{Table: listed, Index: driver.Primary, PK: fmt.Sprint("p", n), Limit: 10})
				cancel()
				if err != nil {
					t.Errorf("partition %d: %v", n, err)
					return
				}
				if got := len(lent.Page().Rows); got != 1 {
					t.Errorf("partition %d has %d rows", n, got)
				}
				lent.GiveBack()
			}
		})
	}
	readers.Wait()
}
