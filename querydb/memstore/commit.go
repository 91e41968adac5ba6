package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/querydb/driver"
)

// Apply writes a batch, one commit after the other. A batch that can never be committed is refused before the first.
func (s *MultiWriter) Apply(ctx context.Context, b driver.Batch) error {
	if err := s.refused(&b); err != nil {
		return err
	}
	commits := s.commits(&b)
	for i, writes := range commits {
		err := s.step(ctx, Commit{Batch: &b, Number: i, Of: len(commits)}, writes)
		if err != nil && i > 0 {
			return driver.Partial(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *MultiWriter) step(ctx context.Context, c Commit, writes []*driver.Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.opts.Before != nil {
		if err := s.opts.Before(c); err != nil {
			return err
		}
	}
	if err := s.commit(c.Batch, writes); err != nil {
		return err
	}
	if s.opts.After != nil {
		return s.opts.After(c)
	}
	return nil
}

// refused returns why a batch cannot be committed, whatever the rows are.
func (s *MultiWriter) refused(b *driver.Batch) error {
	if err := distinct(*b); err != nil {
		return err
	}
	together := b.Last
	if b.Atomic {
		together = slices.Concat(b.Writes, b.Last)
	}
	size := 0
	for i := range together {
		size += sizeOf(&together[i].Row)
	}
	if b.MultiRow {
		if err := s.store.kindConflicts(b.Writes); err != nil {
			return err
		}
	}
	if len(together) > s.opts.MostWrites || size > s.opts.MostBytes {
		return fmt.Errorf("memstore: %w: %d writes of %d bytes are to be one commit, which holds %d and %d",
			driver.ErrTooLarge, len(together), size, s.opts.MostWrites, s.opts.MostBytes)
	}
	return nil
}

func sizeOf(r *driver.Row) int {
	size := len(r.Key.PK) + len(r.Key.SK) + len(r.Record)
	for i := range r.Indexes {
		size += len(r.Indexes[i].PK) + len(r.Indexes[i].SK)
	}
	return size
}

// commits splits a batch into its commits.
func (s *MultiWriter) commits(b *driver.Batch) [][]*driver.Write {
	writes, last := pointers(b.Writes), pointers(b.Last)
	if b.Atomic {
		return [][]*driver.Write{append(writes, last...)}
	}
	var commits [][]*driver.Write
	if s.opts.Order != nil {
		for _, i := range s.opts.Order(len(writes)) {
			commits = append(commits, writes[i:i+1])
		}
	} else {
		for i := range writes {
			commits = append(commits, writes[i:i+1])
		}
	}
	if len(last) > 0 {
		commits = append(commits, last)
	}
	return commits
}

func pointers(writes []driver.Write) []*driver.Write {
	ps := make([]*driver.Write, len(writes))
	for i := range writes {
		ps[i] = &writes[i]
	}
	return ps
}

// commit does those of the writes that were not done before, or nothing where the condition of one of them fails.
func (s *MultiWriter) commit(b *driver.Batch, writes []*driver.Write) error {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if err := s.open(); err != nil {
		return err
	}
	if !b.Deadline.IsZero() && s.opts.Now().After(b.Deadline) {
		return fmt.Errorf("memstore: %w, %s", driver.ErrLate, b.Deadline)
	}
	var due []*driver.Write
	for _, w := range writes {
		stale, done := s.condition(b, w)
		if stale {
			return fmt.Errorf("memstore: %w: row %q of %s is not at revision %d", driver.ErrStale,
				w.Row.Key, w.Table.Name, w.Row.Revision)
		}
		if !done && w.Kind != driver.CheckRevision {
			due = append(due, w)
		}
	}
	changes, err := s.store.changes(b.Writer, due)
	if err != nil {
		return err
	}
	for i := range changes {
		changes[i].remember(b.Writer)
		changes[i].apply()
	}
	return nil
}

// condition compares the row with what a write requires of it: the write is stale, or was done before, or neither.
func (s *MultiWriter) condition(b *driver.Batch, w *driver.Write) (stale, done bool) {
	r := s.store.table(w.Table).rows[w.Row.Key]
	switch {
	case w.IfRevision:
		revision := uint64(0)
		if r != nil && !(w.Row.Revision == 0 && r.deleted() && r.Kind != w.Table.Kind &&
			!r.reached(b.Writer, w.Row.Position)) {
			revision = r.Revision
		}
		return revision != w.Row.Revision, false
	case r == nil || w.Row.Position == driver.Position{} || s.opts.Unguarded:
		return false, false
	}
	return false, r.reached(b.Writer, w.Row.Position)
}

// remember gives the next row its revision and the positions applied. A row that is deleted at a position stays,
// without a record.
func (c *change) remember(writer string) {
	if c.next == nil {
		if c.Row.Position == (driver.Position{}) {
			return
		}
		c.next = &row{Row: driver.Row{Key: c.Row.Key, Kind: c.Table.Kind, Position: c.Row.Position}}
	}
	c.next.Revision = 1
	if c.former != nil {
		c.next.Revision = c.former.Revision + 1
		c.next.applied = cloned(c.former.applied)
	}
	c.next.apply(writer, c.Row.Position)
}

// cloned is a copy of the positions of a row: those that were read must not change.
func cloned(applied map[string][]driver.Position) map[string][]driver.Position {
	applied = maps.Clone(applied)
	for writer, positions := range applied {
		applied[writer] = slices.Clone(positions)
	}
	return applied
}
