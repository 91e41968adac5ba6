package memstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// MultiWriter is a driver of rows in memory that several writers share, each through a MultiWriter of its own: see
// [MultiWriter.Join]. It commits a batch write by write, and others may write between any two of them.
type MultiWriter struct {
	store  *Store // the rows, which all share
	opts   Options
	closed bool // guarded by the store's lock
}

var (
	_ driver.Driver      = (*MultiWriter)(nil)
	_ driver.Dropper     = (*MultiWriter)(nil)
	_ driver.MultiWriter = (*MultiWriter)(nil)
	_ driver.TxLimiter   = (*MultiWriter)(nil)
)

// Options say what goes wrong with the batches of a MultiWriter; with the zero Options, nothing does.
type Options struct {
	// MostWrites and MostBytes are what an atomic commit can hold: 100 and 4 MiB by default.
	MostWrites, MostBytes int
	// Now is the clock that deadlines are compared with, time.Now by default.
	Now func() time.Time
	// Order returns the order in which the n Writes of a batch are committed; by default, their own.
	Order func(n int) []int
	// Before is called before each commit that a batch is made of. Where it returns an error, that is the answer, and
	// neither this commit nor a later one happens.
	Before func(Commit) error
	// After is called when a commit has happened. Where it returns an error, that is the answer, and no later one happens.
	After func(Commit) error
	// Unguarded ignores the positions that rows have reached: it repeats writes without IfRevision that were done before.
	// No store may do that; it is for tests that show that they would notice.
	Unguarded bool
}

// Commit is one step of a batch. Before and After may call the store.
type Commit struct {
	Batch *driver.Batch
	// Number counts the commits of the batch from 0, and Of is how many there are: one for each of Writes, and one for
	// Last; or one for all, where the batch is atomic.
	Number, Of int
}

// NewMultiWriter returns an empty store.
func NewMultiWriter(opts Options) *MultiWriter {
	return (&MultiWriter{store: New()}).Join(opts)
}

// Join returns another MultiWriter of the same rows, which stands for another process.
func (s *MultiWriter) Join(opts Options) *MultiWriter {
	if opts.MostWrites == 0 {
		opts.MostWrites = 100
	}
	if opts.MostBytes == 0 {
		opts.MostBytes = 4 << 20
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &MultiWriter{store: s.store, opts: opts}
}

// WrittenByOthers implements driver.MultiWriter.
func (s *MultiWriter) WrittenByOthers() {}

// TxLimits returns what an atomic commit can hold.
func (s *MultiWriter) TxLimits() (writes, bytes int) { return s.opts.MostWrites, s.opts.MostBytes }

// Close ends this MultiWriter. Others of the same rows stay open.
func (s *MultiWriter) Close() error {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.closed = true
	return nil
}

// Get reads rows by their keys.
func (s *MultiWriter) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	return s.store.Get(ctx, g)
}

// Query reads rows of one partition.
func (s *MultiWriter) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := s.usable(); err != nil {
		return driver.Page{}, err
	}
	return s.store.Query(ctx, q)
}

// Drop removes a generation of a table.
func (s *MultiWriter) Drop(ctx context.Context, t *driver.Table) error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.store.Drop(ctx, t)
}

// Expire removes rows of the table that expired before the given time and leaves no tombstones, as DynamoDB does by
// itself. It returns how many there were.
func (s *MultiWriter) Expire(t *driver.Table, before time.Time) int {
	removed, err := s.store.Sweep(context.Background(), t, before, math.MaxInt)
	if err != nil {
		return 0
	}
	return removed
}

// Forget removes the tombstones of deleted rows, as a store does after 30 days.
func (s *MultiWriter) Forget() {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	for _, t := range s.store.tables {
		for key, r := range t.rows {
			if r.deleted() {
				t.remove(key)
			}
		}
	}
}

func (s *MultiWriter) usable() error {
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	return s.open()
}

// open returns why a call cannot proceed, nil where it can. The lock is held.
func (s *MultiWriter) open() error {
	if s.closed {
		return fmt.Errorf("memstore: %w: the store is closed", driver.ErrUnavailable)
	}
	return nil
}
