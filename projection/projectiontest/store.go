package projectiontest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// store is a store in memory that remembers which keys were written, and loses the answer to commits where told to.
type store struct {
	driver.Driver

	lose    bool
	mu      sync.Mutex
	lost    bool // the last commit's answer was lost: the next is not
	written map[keys.Key]bool
}

func newStore(lose bool) *store {
	return &store{Driver: memstore.New(), lose: lose, written: map[keys.Key]bool{}}
}

// Apply commits the batch. Where answers are lost, every other commit fails after it has succeeded.
func (s *store) Apply(ctx context.Context, b driver.Batch) error {
	if err := s.Driver.Apply(ctx, b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range b.Writes {
		s.written[w.Row.Key] = true
	}
	s.lost = s.lose && !s.lost
	if s.lost {
		return fmt.Errorf("%w: the answer was lost", driver.ErrUnavailable)
	}
	return nil
}

// Drop implements driver.Dropper.
func (s *store) Drop(ctx context.Context, t *driver.Table) error {
	if d, ok := s.Driver.(driver.Dropper); ok {
		return d.Drop(ctx, t)
	}
	return errors.ErrUnsupported
}

// keys returns every key that was ever written, in order.
func (s *store) keys() []keys.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.written), compareKeys)
}
