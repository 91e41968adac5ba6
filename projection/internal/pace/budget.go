// Package pace bounds how much of the processors those take together that can wait, so that others keep theirs.
package pace

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/backoff"
)

// Budget is a part of the processors. Those who share it work, and then pause for as long as it takes that none of them
// works for more than the part of its time, and all of them for no more than the part of the time of all processors.
type Budget struct {
	share float64
	cpus  int

	mu      sync.Mutex
	working int
}

// New makes the Budget of a part, above 0 and up to 1, of the processors that the process may use.
func New(share float64) (*Budget, error) {
	if !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("a budget of %v: give a part above 0 and up to 1", share)
	}
	return &Budget{share: share, cpus: runtime.GOMAXPROCS(0)}, nil
}

// Pause is how long one pauses that has worked for so long in all, by several goroutines maybe, within a time.
func (b *Budget) Pause(worked, within time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.share * min(1, float64(b.cpus)/float64(max(b.working, 1)))
	return max(0, time.Duration(float64(worked)/own)-within)
}

// Member is one of those who share a Budget. That of no Budget never pauses.
type Member struct {
	of      *Budget
	working bool
}

// Join makes a Member, which does not work yet. The Budget may be nil.
func (b *Budget) Join() *Member { return &Member{of: b} }

// Works says whether the member has anything to do: the others have its part where it has not.
func (m *Member) Works(does bool) {
	if m.of == nil || m.working == does {
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

// Pause waits as Budget.Pause says, or until the context ends, whose cause it then returns.
func (m *Member) Pause(ctx context.Context, worked, within time.Duration) error {
	if m.of == nil {
		return nil
	}
	return backoff.Wait(ctx, m.of.Pause(worked, within))
}
