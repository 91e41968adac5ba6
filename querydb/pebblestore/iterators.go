package pebblestore

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// iterators keeps of each table an iterator that a page was read with, for the next page: to make one takes several
// times as long as to read a few rows. An iterator shows the store as it was when it was made, so it is used again for
// as long as no commit to its table has begun since; and for no longer than mostIdle, because the engine keeps files
// and memory that it shows.
type iterators struct {
	mu     sync.Mutex
	idle   map[*storedTable]*iterator
	closed bool
}

// mostIdle is how old an iterator becomes that is used again.
const mostIdle = 100 * time.Millisecond

// iterator is one of a table.
type iterator struct {
	*pebble.Iterator
	table  *storedTable
	opened time.Time
	begun  uint64 // commits to the table, when it was made
	fresh  bool   // none of them was taking effect then
	timed  bool   // it ends by itself when it is idle for too long
}

// within returns an iterator of a table within bounds, which shows all that was committed before. It is of no context:
// it would end with the request that it was made for, amid another.
func (is *iterators) within(db *pebble.DB, p *storedTable, s span) (*iterator, error) {
	begun, quiet := p.commits.quiet()
	if it := is.take(p); it != nil {
		if quiet && it.begun == begun {
			it.SetBounds(s.lower, s.upper)
			return it, nil
		}
		_ = it.Close() // nobody waits for what it has read
	}
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: s.lower, UpperBound: s.upper})
	if err != nil {
		return nil, err
	}
	return &iterator{Iterator: it, table: p, opened: time.Now(), begun: begun, fresh: quiet}, nil
}

// take takes the idle iterator of a table, nil where there is none.
func (is *iterators) take(p *storedTable) *iterator {
	is.mu.Lock()
	defer is.mu.Unlock()
	it := is.idle[p]
	delete(is.idle, p)
	return it
}

// done keeps an iterator for the next page, or closes it. The error is why it could not read on, if so.
func (is *iterators) done(it *iterator) error {
	if begun, quiet := it.table.commits.quiet(); it.Error() != nil || !it.fresh || !quiet || begun != it.begun ||
		!is.keep(it) {
		return it.Close()
	}
	return nil
}

// keep keeps an iterator, unless it is too old, or there is one already.
func (is *iterators) keep(it *iterator) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	left := mostIdle - time.Since(it.opened) // under the lock: its timer comes after that, and finds it
	if left <= 0 || is.closed || is.idle[it.table] != nil {
		return false
	}
	if is.idle == nil {
		is.idle = map[*storedTable]*iterator{}
	}
	is.idle[it.table] = it
	if !it.timed {
		it.timed = true
		time.AfterFunc(left, func() { is.retire(it) })
	}
	return true
}

// retire closes an iterator if it is idle. One that is in use is closed after that, for its age.
func (is *iterators) retire(it *iterator) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if is.idle[it.table] == it {
		delete(is.idle, it.table)
		_ = it.Close() // nobody waits for what it reads
	}
}

// close closes those that are idle, before the engine is closed, and keeps none from then on.
func (is *iterators) close() {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.closed = true
	for table, it := range is.idle {
		delete(is.idle, table)
		_ = it.Close() // see retire
	}
}
