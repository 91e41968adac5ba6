package fold

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// A copy whose cascade is transactional follows its row in the commit that changes the row. Which rows hold such copies
// is known of two things: the links, as they were when the window was read, and the rows that the window has changed
// since. Where an event changes a row whose links were not read, it begins another commit, which reads them: see
// missing.

// Links finds the rows that hold copies of the one with the identifier: the keys of some of them, most of them at most,
// and how many there are.
type Links func(ctx context.Context, ref cascade.Reference, identifier string, most int) ([]keys.Key, int, error)

// mostTargets is how many copies may follow their row in one commit where the store has no limit.
const mostTargets = 10_000

// CascadeOverflowError is of an event that changes a row of which more copies are to follow in its commit than one
// holds.
type CascadeOverflowError struct {
	Model string `json:"model"` // of the row that is copied
	Count int    `json:"count"` // of the rows that hold copies
	Limit int    `json:"limit"`
}

// Error implements error.
func (e *CascadeOverflowError) Error() string {
	return fmt.Sprintf("change a row of %s: %d rows hold copies of it that follow in the same commit, which holds %d: "+
		"declare the references with cascade: EVENTUAL", e.Model, e.Count, e.Limit)
}

// Is makes it an error of what is too large.
func (e *CascadeOverflowError) Is(target error) bool { return target == querydb.ErrTooLarge }

// followers are the references by which rows of other models hold copies that follow in the same commit, and what is
// known of who does.
type followers[R any] struct {
	*tracking[R]
	by    []follower
	links map[linkQuery]linked // as they were read
}

// follower is such a reference.
type follower struct {
	rows member
	ref  int // its number there
	cascade.Reference
}

// linkQuery asks which rows hold copies of the row with the identifier.
type linkQuery struct {
	cascade.Reference
	identifier string
}

type linked struct {
	keys  []keys.Key
	count int
}

// addFollower adds a reference.
func (f *followers[R]) addFollower(w follower) { f.by = append(f.by, w) }

func (f *followers[R]) hasFollowers() bool { return len(f.by) > 0 }

// loadLinks reads the links that were missed.
func (f *followers[R]) loadLinks(ctx context.Context, find Links) error {
	f.links = map[linkQuery]linked{}
	for q := range f.of.given.links {
		i := slices.IndexFunc(f.by, func(w follower) bool { return w.Reference == q.Reference })
		held, count, err := find(ctx, q.Reference, q.identifier, f.of.bounds.targets)
		if err != nil {
			return err
		}
		f.links[q] = linked{held, count}
		for _, key := range held {
			if err := f.by[i].rows.needKey(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// cascade has the copies of the rows that the event in hand has changed follow them.
func (f *followers[R]) cascade(at ApplyPoint) error {
	if len(f.by) == 0 {
		return nil
	}
	for _, u := range f.of.journal {
		changed, err := f.changes(&u)
		if err == nil && changed {
			err = f.cascadeOf(&u, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changes reports whether the event changes what copies of the row hold.
func (f *followers[R]) changes(u *undo[R]) (bool, error) {
	var now []byte
	if u.entry.present {
		row, err := querydb.EncodeWithKey(f.of.codec, &f.of.builder, &u.entry.row, u.entry.key)
		if err != nil {
			return false, err
		}
		now = f.copiedText(&row)
	}
	was := u.entry.was.copied
	if u.was.event != 0 {
		if was = nil; u.was.present {
			was = f.copiedText(&u.was.stored)
		}
	}
	return (now == nil) != (was == nil) || !slices.Equal(now, was), nil
}

// cascadeOf has the copies of one row follow it.
func (f *followers[R]) cascadeOf(u *undo[R], at ApplyPoint) error {
	identifier := u.entry.was.identifier
	switch {
	case u.entry.present:
		identifier = f.identifier(&u.entry.row)
	case u.was.present:
		identifier = f.identifier(&u.was.row)
	}
	count, b := 0, f.of.bounds
	for _, w := range f.by {
		q := linkQuery{w.Reference, identifier}
		known, read := f.links[q]
		if !read {
			if f.of.misses.links == nil {
				f.of.misses.links = map[linkQuery]bool{}
			}
			f.of.misses.links[q] = true
			return f.of.unlessSurveyed(ErrNextCommit)
		}
		n := known.count
		if n <= b.targets {
			var err error
			if n, err = w.rows.refreshHolders(w.ref, identifier, known.keys, at); err != nil {
				return err
			}
		}
		if count += n; count > b.targets {
			return &CascadeOverflowError{Model: f.of.desc.Name, Count: count, Limit: b.targets}
		}
	}
	b.cascaded += count
	return nil
}

// refreshHolders has the copies of a row follow it in the rows of the keys and in those that the window has changed. It
// reports in how many.
func (f *tracking[R]) refreshHolders(ref int, identifier string, held []keys.Key, at ApplyPoint) (n int, err error) {
	holders := make([]*entry[R], 0, len(held))
	for _, key := range held {
		e := f.of.entry(key)
		if !e.read && e.event == 0 {
			if err := f.of.missKey(key); err != nil {
				return 0, err
			}
			continue
		}
		holders = append(holders, e)
	}
	for _, e := range f.of.dirty {
		if e.event != 0 && !slices.Contains(held, e.key) {
			holders = append(holders, e)
		}
	}
	c := copied{ref, identifier}
	for _, e := range holders {
		if held, _ := f.holds(e, c); held {
			n++
			if err := f.refreshCopies(e, c, at); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}
