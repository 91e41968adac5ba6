package graphqlhttp

import (
	"sync"
	"sync/atomic"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// MemoryBudget bounds what all requests together take of it while they are answered: their bodies, the rows that are
// read for them, and their answers until these are sent. A small request takes nothing of it, so that large ones never
// keep it waiting.
type MemoryBudget struct {
	limit   int64
	used    atomic.Int64
	beyond  atomic.Bool // there is a reservation beyond the limit
	refused atomic.Uint64
}

// NewMemoryBudget returns a MemoryBudget of so many bytes.
func NewMemoryBudget(bytes int64) *MemoryBudget { return &MemoryBudget{limit: bytes} }

// MinMemory is what a request takes, about, that may have so many bytes of body, rows and answer: a MemoryBudget
// of less could refuse it where it is alone. An answer takes twice its size while it grows.
func MinMemory(body, read, answer int64) int64 { return bodyTimes*body + read + 2*answer + takeBytes }

// Used is how many bytes are taken now.
func (m *MemoryBudget) Used() int64 { return m.used.Load() }

// Refused is how many requests were refused for want of memory.
func (m *MemoryBudget) Refused() uint64 { return m.refused.Load() }

// Reserve takes so many bytes, or all there are where that is less, and returns what gives them back. Where there are
// not as many left, one reservation at a time is granted beyond the limit, so that requests of the GraphQL API, which
// take what they need bit by bit, never keep out all others; for one more ok is false.
func (m *MemoryBudget) Reserve(bytes int64) (giveBack func(), ok bool) {
	bytes = min(bytes, m.limit)
	switch {
	case m.take(bytes):
		return func() { m.used.Add(-bytes) }, true
	case m.beyond.CompareAndSwap(false, true):
		return func() { m.beyond.Store(false) }, true
	}
	m.refused.Add(1)
	return nil, false
}

func (m *MemoryBudget) take(bytes int64) bool {
	if m.used.Add(bytes) > m.limit {
		m.used.Add(-bytes)
		return false
	}
	return true
}

const (
	// freeBytes is what each request has without taking it of the MemoryBudget.
	freeBytes = 64 << 10
	// takeBytes is how much is taken at once, at least, so that requests seldom meet at the counter.
	takeBytes = 256 << 10
)

// budget is what one request has taken. It is the driver.PassingBudget of its reads.
type budget struct {
	memory  *MemoryBudget
	maxRead int64

	read    atomic.Int64 // bytes of rows
	passed  atomic.Int64 // bytes of rows that were passed over
	held    atomic.Int64 // bytes of anything
	covered atomic.Int64 // bytes that may be held before more is taken
	refused atomic.Bool  // there was not as much memory

	mu    sync.Mutex
	taken int64 // of memory
	ended bool
}

func newBudget(memory *MemoryBudget, maxRead int64) *budget {
	b := &budget{memory: memory, maxRead: maxRead}
	b.covered.Store(freeBytes)
	return b
}

// Take charges a row that is read, or gives back what was charged.
func (b *budget) Take(bytes int) error {
	if b.read.Add(int64(bytes)) > b.maxRead {
		return graphqlerr.New(graphqlerr.LimitExceeded,
			"the request reads more than %d bytes of rows; ask for smaller pages, or for less of what rows are joined to",
			b.maxRead)
	}
	return b.Hold(bytes)
}

// Pass charges rows that are passed over. They may be as many bytes as those that are read, and take no memory.
func (b *budget) Pass(bytes int) error {
	if b.passed.Add(int64(bytes)) > b.maxRead {
		return graphqlerr.New(graphqlerr.LimitExceeded,
			"more than %d bytes of rows that were deleted, have expired or are of another type lie before or between those "+
				"that the request asks for; ask for a range without them, or for pages from its other end", b.maxRead)
	}
	return nil
}

// Hold charges memory that is needed until the answer is made.
func (b *budget) Hold(bytes int) error {
	held := b.held.Add(int64(bytes))
	if held <= b.covered.Load() {
		return nil
	}
	return b.cover(held)
}

// cover takes memory for what is held.
func (b *budget) cover(held int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	lacking := held - b.covered.Load()
	if lacking <= 0 {
		return nil
	}
	lacking = max(lacking, takeBytes)
	if b.ended || !b.memory.take(lacking) {
		if !b.refused.Swap(true) {
			b.memory.refused.Add(1)
		}
		return errNoMemory()
	}
	b.taken += lacking
	b.covered.Add(lacking)
	return nil
}

// keep takes as much as the answer has, and gives back the rest; ok is false where there is not as much. It is called
// when the answer is made.
func (b *budget) keep(bytes int64) (ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	needed := max(0, bytes-freeBytes)
	switch {
	case needed < b.taken:
		b.memory.used.Add(needed - b.taken)
	case needed > b.taken && !b.memory.take(needed-b.taken):
		b.memory.refused.Add(1)
		return false
	}
	b.taken = needed
	return true
}

// end gives back what was taken. Who goes on reading after it is refused.
func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.memory.used.Add(-b.taken)
	b.taken, b.ended = 0, true
	b.covered.Store(0)
}

// errNoMemory is the error of a request for which there is no memory left.
func errNoMemory() error {
	return graphqlerr.New(graphqlerr.Unavailable, "the server has as many large requests as it can answer at a time; ask "+
		"again, or for less")
}
