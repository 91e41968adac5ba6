package driver

import (
	"context"
	"sync"
)

// ChargedOnce returns a context for several readings of the same rows, each of which begins with a call of again: a
// reading is charged only for what it takes, or passes over, beyond any before it.
func ChargedOnce(ctx context.Context) (charged context.Context, again func()) {
	of := budgetsOf(ctx)
	if of.rows == nil {
		return ctx, func() {}
	}
	once := &onceBudget{taken: largest{charge: of.rows.Take}}
	if of.passing != nil {
		once.passed.charge = of.passing.Pass
	}
	return WithBudget(ctx, once), once.again
}

// onceBudget is the budget of several readings of the same rows.
type onceBudget struct{ taken, passed largest }

func (b *onceBudget) Take(bytes int) error { return b.taken.add(bytes) }

func (b *onceBudget) Pass(bytes int) error { return b.passed.add(bytes) }

func (b *onceBudget) again() {
	b.taken.again()
	b.passed.again()
}

// largest charges for the largest of several readings.
type largest struct {
	charge    func(bytes int) error // nil where nothing is charged
	mu        sync.Mutex
	now, most int // bytes of this reading, and of the largest
}

func (l *largest) again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = 0
}

func (l *largest) add(bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now += bytes
	more := l.now - l.most
	if more <= 0 || l.charge == nil {
		return nil
	}
	if err := l.charge(more); err != nil {
		return err
	}
	l.most = l.now
	return nil
}
