// Package pace bounds how much of the processors those take together that can wait, so that others keep theirs.
package pace

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/foldql/foldql/internal/backoff"
)

// Budget is a part of the processors. Those who share it work in turns: all of them for no more than that part of the
// time of all processors, each for an equal part of that, and no more of them at once than the part is whole
// processors, or one. The others are left to those whom somebody waits for, at every moment. While nobody waits for
// anything, the part may be another, larger one.
type Budget struct {
	busy, idle float64 // the part while somebody waits for others than them, and while nobody does
	cpus       int
	places     *semaphore.Weighted
	most       int64 // places

	newlyAsked atomic.Bool // since it was last looked at

	mu        sync.Mutex
	lastAsked time.Time
	working   int // members that have anything to do
}

// New makes the Budget of a part, above 0 and up to 1, of the processors that the process may use; idle, which is no
// smaller, is the part while nobody asks for anything.
func New(busy, idle float64) (*Budget, error) {
	if !(busy > 0 && busy <= idle && idle <= 1) {
		return nil, fmt.Errorf("a budget of %v, and of %v while nobody asks: give parts above 0 and up to 1, the second "+
			"no smaller than the first", busy, idle)
	}
	return newBudget(busy, idle, runtime.GOMAXPROCS(0)), nil
}

func newBudget(busy, idle float64, cpus int) *Budget {
	most := int64(max(1, int(idle*float64(cpus))))
	return &Budget{busy: busy, idle: idle, cpus: cpus, places: semaphore.NewWeighted(most), most: most}
}

// Asked notes that somebody asks for something else than the work that is bounded. It costs next to nothing.
func (b *Budget) Asked() {
	if !b.newlyAsked.Load() {
		b.newlyAsked.Store(true)
	}
}

// quiet is how long after a question somebody counts as asking.
const quiet = 250 * time.Millisecond

// share is the part as of now. Its caller holds the lock.
func (b *Budget) share() float64 {
	if b.busy == b.idle {
		return b.busy
	}
	now := time.Now()
	if b.newlyAsked.Load() {
		b.newlyAsked.Store(false)
		b.lastAsked = now
	}
	if now.Sub(b.lastAsked) < quiet {
		return b.busy
	}
	return b.idle
}

// room is how many places one takes who works now: all of them together then hold no more places than there are.
func (b *Budget) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	may := max(1, int64(b.share()*float64(b.cpus)))
	return (b.most + may - 1) / may
}

// Passes is the time that passes while one of those who share the Budget works for so long.
func (b *Budget) Passes(worked time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.among(b.working, b.share(), worked)
}

// among is the time that passes while one of so many, who share a part, works for so long.
func (b *Budget) among(n int, share float64, worked time.Duration) time.Duration {
	own := min(1, share*float64(b.cpus)/float64(max(n, 1)))
	return time.Duration(float64(worked) / own)
}

// Member is one of those who share a Budget, with any number of goroutines. That of no Budget is never held up.
type Member struct {
	of      *Budget
	waits   bool // its work is mostly to wait for others
	working bool

	mu   sync.Mutex
	next time.Time // before which it does not work
}

// Join makes a Member, which has nothing to do yet. The work of one that waits is mostly to wait for the answers of
// others: it takes hardly any of the processors' time, so it needs no place, and its part is what one has alone while
// nobody asks. The Budget may be nil.
func (b *Budget) Join(waits bool) *Member { return &Member{of: b, waits: waits} }

// Works says whether the member has anything to do: the others have its part where it has not.
func (m *Member) Works(does bool) {
	if m.of == nil || m.waits || m.working == does {
		return
	}
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	if m.working = does; does {
		m.of.working++
	} else {
		m.of.working--
	}
}

// mostCredit is how much of the time that a member has let pass counts for its next turns: a timer fires late, and
// what is lost by that is made up for.
const mostCredit = 20 * time.Millisecond

// mostCounted is how much of one piece of work counts: what takes longer has waited, for a disk that hung or a process
// that was stopped, and took no processor's time.
const mostCounted = time.Second

// worked notes that the member has worked from one time to another.
func (m *Member) worked(from, to time.Time) {
	took := min(to.Sub(from), mostCounted)
	m.mu.Lock()
	defer m.mu.Unlock()
	if early := from.Add(-mostCredit); m.next.Before(early) {
		m.next = early
	}
	if m.waits {
		m.next = m.next.Add(m.of.among(1, m.of.idle, took))
		return
	}
	m.next = m.next.Add(m.of.Passes(took))
}

// Wait waits until the member may work, or until the context ends, whose cause it then returns. Who holds what others
// need waits before, and not in Begin.
func (m *Member) Wait(ctx context.Context) error {
	if m.of == nil {
		return nil
	}
	for wait := m.untilNext(); wait > 0; wait = m.untilNext() {
		if err := backoff.Wait(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// untilNext is how long the member does not work.
func (m *Member) untilNext() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Until(m.next)
}
