package projectiontest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// store is a store in memory that remembers which keys were written.
type store interface {
	driver.Driver
	keys(m *querydb.Model) []keys.Key
	process() *process
}

func newStore(w way) store {
	if w.shared {
		return newShared(w.partial)
	}
	return &plain{Store: memstore.New(), lose: w.lose}
}

// process is one that folds. It may end after a number of commits, and then commits no more.
type process struct {
	mu      sync.Mutex
	commits int    // so far
	last    int    // after which it ends, 0 for never
	end     func() // has the runner return
}

// errEnded is the answer to commits of a process that has ended.
var errEnded = fmt.Errorf("%w: the process has ended", driver.ErrUnavailable)

// begin starts a process, in place of one that may have ended.
func (p *process) begin(last int, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits, p.last, p.end = 0, last, end
}

// before fails where the process has ended.
func (p *process) before() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last > 0 && p.commits >= p.last {
		return errEnded
	}
	return nil
}

// after counts a commit, and ends the process if it was the last. Nobody gets the answer to that one.
func (p *process) after() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if p.commits != p.last {
		return nil
	}
	p.end()
	return errEnded
}

// count returns how many commits there have been.
func (p *process) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits
}

// written are the keys of rows.
type written struct {
	mu  sync.Mutex
	all map[rowKey]bool
}

// rowKey is the key of a row of a table, and the kind of the row where the table has several.
type rowKey struct {
	table, kind string
	keys.Key
}

func (w *written) add(b *driver.Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[rowKey]bool{}
	}
	for i := range b.Writes {
		if to := &b.Writes[i]; to.Kind != driver.DeletePartition {
			w.all[rowKey{to.Table.Name, to.Table.Kind, to.Row.Key}] = true
		}
	}
}

// keys returns every key of the model's rows that was ever written, in order.
func (w *written) keys(m *querydb.Model) []keys.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []keys.Key
	table := m.DriverTable(0)
	for k := range w.all {
		if k.table == table.Name && k.kind == table.Kind {
			all = append(all, k.Key)
		}
	}
	slices.SortFunc(all, compareKeys)
	return all
}

// plain is a store with one writer. With lose, it loses the answers to commits.
type plain struct {
	*memstore.Store
	written

	by   process
	lose bool
	lost bool // the last commit's answer was lost: the next is not
}

func (p *plain) process() *process { return &p.by }

// Apply commits the batch. Where answers are lost, every other commit fails after it has succeeded.
func (p *plain) Apply(ctx context.Context, b driver.Batch) error {
	if err := p.by.before(); err != nil {
		return err
	}
	if err := p.Store.Apply(ctx, b); err != nil {
		return err
	}
	p.add(&b)
	if err := p.by.after(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = p.lose && !p.lost
	if p.lost {
		return fmt.Errorf("%w: the answer was lost", driver.ErrUnavailable)
	}
	return nil
}

// shared is a store of several writers, which commits write by write. It can fail amid a batch.
type shared struct {
	*memstore.MultiWriter
	written

	by     process
	failed bool // amid the last batch: the next is written whole
	count  int  // of batches amid which it failed
	at     int  // the commit after which the batch in hand fails, -1 for none
}

func (s *shared) process() *process { return &s.by }

// newShared makes a store that, with partial, leaves every other batch partly written.
func newShared(partial bool) *shared {
	s := &shared{at: -1}
	s.MultiWriter = memstore.NewMultiWriter(memstore.Options{
		Before: func(c memstore.Commit) error {
			if err := s.by.before(); err != nil {
				return err
			}
			if c.Number == 0 {
				s.begin(partial, c.Of)
			}
			s.add(c.Batch)
			return nil
		},
		After: func(c memstore.Commit) error {
			if c.Number == s.at {
				return fmt.Errorf("%w: a partial write", driver.ErrUnavailable)
			}
			return s.by.after()
		},
	})
	return s
}

// begin decides after which of its commits a batch fails. Every other one does: first before its last commit, which is
// the checkpoint's, so that all events of the batch reach the rows twice; then each time one commit earlier; then
// after the last, so that only the answer is lost; and so on.
func (s *shared) begin(partial bool, commits int) {
	s.failed, s.at = partial && !s.failed, -1
	if s.failed {
		s.at = (2*commits - 2 - s.count%commits) % commits
		s.count++
	}
}
