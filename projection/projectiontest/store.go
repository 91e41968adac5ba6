package projectiontest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// store is a store in memory that remembers which keys were written.
type store interface {
	driver.Driver
	keys() []keys.Key
}

func newStore(w way) store {
	if w.shared {
		return newShared(w.tear)
	}
	return &plain{Store: memstore.New(), lose: w.lose}
}

// written are keys.
type written struct {
	mu  sync.Mutex
	all map[keys.Key]bool
}

func (w *written) add(b *driver.Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[keys.Key]bool{}
	}
	for i := range b.Writes {
		if b.Writes[i].Kind != driver.DeletePartition {
			w.all[b.Writes[i].Row.Key] = true
		}
	}
}

// keys returns every key that was ever written, in order.
func (w *written) keys() []keys.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Keys(w.all), compareKeys)
}

// plain is a store with one writer. It loses the answers to commits where told to.
type plain struct {
	*memstore.Store
	written

	lose bool
	lost bool // the last commit's answer was lost: the next is not
}

// Apply commits the batch. Where answers are lost, every other commit fails after it has succeeded.
func (p *plain) Apply(ctx context.Context, b driver.Batch) error {
	if err := p.Store.Apply(ctx, b); err != nil {
		return err
	}
	p.add(&b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = p.lose && !p.lost
	if p.lost {
		return fmt.Errorf("%w: the answer was lost", driver.ErrUnavailable)
	}
	return nil
}

// shared is a store of several writers, which commits write by write. It tears batches where told to.
type shared struct {
	*memstore.MultiWriter
	written

	torn  bool // the last batch was: the next is not
	count int  // of batches that were torn
	at    int  // the commit after which the batch in hand is torn, -1 for none
}

func newShared(tear bool) *shared {
	s := &shared{at: -1}
	s.MultiWriter = memstore.NewMultiWriter(memstore.Options{
		Before: func(c memstore.Commit) error {
			if c.Number == 0 {
				s.begin(tear, c.Of)
			}
			s.add(c.Batch)
			return nil
		},
		After: func(c memstore.Commit) error {
			if c.Number == s.at {
				return fmt.Errorf("%w: torn here", driver.ErrUnavailable)
			}
			return nil
		},
	})
	return s
}

// begin decides where a batch of so many commits is torn. Every other one is: first before its last commit, which is
// the checkpoint's, so that all events of the batch reach the rows twice; then each time one commit earlier; then
// after the last, so that only the answer is lost; and so on.
func (s *shared) begin(tear bool, commits int) {
	s.torn, s.at = tear && !s.torn, -1
	if s.torn {
		s.at = (2*commits - 2 - s.count%commits) % commits
		s.count++
	}
}
