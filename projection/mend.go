package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// ErrNoDeadLetter is the answer to a Ref that names no set-aside event.
var ErrNoDeadLetter = errors.New("the event is not set aside")

// DeadLetters lists up to limit set-aside events in order of partition and offset, after the one that the Ref names, from the
// first where after is "".
func (r *Runner) DeadLetters(ctx context.Context, after string, limit int) ([]DeadLetter, error) {
	id := ""
	if after != "" {
		at, err := parseRef(after)
		if err != nil {
			return nil, err
		}
		id = at.id()
	}
	kind, err := r.deadLetters(ctx)
	if err != nil {
		return nil, err
	}
	notes, err := r.db.Notes(ctx, kind, id, limit)
	if err != nil {
		return nil, fmt.Errorf("list the set-aside events of %s: %w", r.projection.Name, err)
	}
	events := make([]DeadLetter, len(notes))
	for i, n := range notes {
		d, _, err := parseAside(n)
		if err != nil {
			return nil, fmt.Errorf("list the set-aside events of %s: note %s: %w", r.projection.Name, n.ID, err)
		}
		events[i] = d.DeadLetter
	}
	return events, nil
}

// Retry folds a set-aside event now, and then, in order, the later ones of its subject that wait for it. The moment is
// recorded, so that a fold of the whole log does the same. An event that fails again stays aside with its new reason,
// and so do those behind it; where that is the event asked for, Retry returns the reason.
//
// On a Shared store the rows of one event are one commit, so an event that changes more of them than that can hold cannot
// be retried there; and while another process is amid a commit that the event's rows are part of, Retry waits, for some
// seconds. It cannot wait for one that is about to follow one of those rows: such a row may go on from what was before the
// retry.
func (r *Runner) Retry(ctx context.Context, event string) error {
	return r.mend(ctx, event, false)
}

// Skip records that a set-aside event never takes effect, and folds the later ones of its subject that wait for it, as
// Retry does.
func (r *Runner) Skip(ctx context.Context, event string) error {
	return r.mend(ctx, event, true)
}

// errOvertaken says that some rows of a retry are ahead of the checkpoint, or that the projection was begun anew.
var errOvertaken = errors.New("another process is amid a commit: try again shortly, with the projection running")

// mendAttempts is how often a retry is tried while another process is amid a commit, which takes some seconds in all.
const mendAttempts = 10

func (r *Runner) mend(ctx context.Context, event string, skip bool) error {
	act := "retry"
	if skip {
		act = "skip"
	}
	err := r.mendOnce(ctx, event, skip)
	for n := 1; n < mendAttempts && (errors.Is(err, errOvertaken) || errors.Is(err, querydb.ErrStale)); n++ {
		if err = pause(ctx, r.cfg.backoff(n-1)); err == nil {
			err = r.mendOnce(ctx, event, skip)
		}
	}
	if err != nil {
		return fmt.Errorf("%s event %s of %s: %w", act, event, r.projection.Name, err)
	}
	return nil
}

func (r *Runner) mendOnce(ctx context.Context, event string, skip bool) error {
	at, err := parseRef(event)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known { // unless another process has gone on, what is on record need not be read again for every event
		if r.known, err = r.current(ctx); err != nil {
			return err
		}
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.stop != nil && r.stop.at == at {
		return r.decide(ctx, at, skip)
	}
	aside, err := r.readAside(ctx, at)
	if err != nil {
		return err
	}
	if r.amidReplays(at.partition) {
		return fmt.Errorf("the projection is folding its log anew and stands amid recorded retries: try again shortly")
	}
	offsets, err := r.chain(at, aside, skip)
	if err != nil {
		return err
	}
	return r.release(ctx, at, offsets, skip)
}

// deadLetters is the kind of the notes of what is aside, by what is on record.
func (r *Runner) deadLetters(ctx context.Context) (kind string, err error) {
	b, err := readBuild(ctx, r.db, r.projection.Name)
	if b.former != nil {
		return formerAside + r.projection.Name, err
	}
	return b.kind(kindDeadLetter, r.projection.Name), err
}

func (r *Runner) readAside(ctx context.Context, at ref) (DeadLetter, error) {
	kind := r.done.kind(kindDeadLetter, r.projection.Name)
	b, err := r.db.ReadNote(ctx, kind, at.id())
	if errors.Is(err, querydb.ErrNotFound) {
		return DeadLetter{}, ErrNoDeadLetter
	}
	if err != nil {
		return DeadLetter{}, err
	}
	a, _, err := parseAside(querydb.Note{Kind: kind, ID: at.id(), Value: b})
	return a.DeadLetter, err
}

// chain returns the offsets of the event and of those that wait for it.
func (r *Runner) chain(at ref, aside DeadLetter, skip bool) ([]uint64, error) {
	s := subject{at.partition, aside.Source, aside.Subject}
	first, held := r.asides.first(s)
	switch {
	case !held:
		return []uint64{at.offset}, nil
	case first == at.offset:
		return append([]uint64(nil), r.asides.held[s]...), nil
	case skip: // it is taken out of the middle; the others go on waiting
		return []uint64{at.offset}, nil
	}
	return nil, fmt.Errorf("it waits for event %s of the same subject: retry or skip that first", ref{at.partition, first})
}

// release folds set-aside events, a window at a time.
func (r *Runner) release(ctx context.Context, at ref, offsets []uint64, skip bool) error {
	rd, generation := &reader{projection: &r.projection, src: r.src, cfg: &r.cfg, calls: r.calls}, r.done.Generation
	for len(offsets) > 0 {
		n := min(len(offsets), r.cfg.Window)
		items, err := r.releasedItems(ctx, rd, at.partition, offsets[:n])
		if err != nil {
			return err
		}
		items[0].skip = skip && offsets[0] == at.offset
		offsets = offsets[len(items):]
		if err := r.foldAll(ctx, stretch{partition: at.partition, items: items, released: true, generation: generation}); err != nil {
			return err
		}
	}
	return r.stillAside(ctx, at)
}

// releasedItems reads and projects set-aside events, the first at least; their place is where the projection stands when they are folded.
func (r *Runner) releasedItems(ctx context.Context, rd *reader, partition string, offsets []uint64) ([]item, error) {
	items := make([]item, len(offsets))
	for i, offset := range offsets {
		e, err := r.fetchAside(ctx, ref{partition, offset})
		if err != nil {
			return nil, err
		}
		items[i] = item{event: e, released: true}
	}
	done, err := rd.projectAll(items, r.cfg.mostOps())
	if err != nil {
		return nil, stopped(r.calls, &r.projection, items[done].event, err)
	}
	return items[:done], nil
}

// fetchAside reads a set-aside event, and compares it with what is on record of it.
func (r *Runner) fetchAside(ctx context.Context, at ref) (*eventlog.Event, error) {
	kind := r.done.kind(kindDeadLetter, r.projection.Name)
	b, err := r.db.ReadNote(ctx, kind, at.id())
	if err != nil && !errors.Is(err, querydb.ErrNotFound) { // another process may have been first
		return nil, err
	}
	if err == nil {
		d, _, err := parseAside(querydb.Note{Kind: kind, ID: at.id(), Value: b})
		if err != nil {
			return nil, err
		}
		w := witness{src: r.src, projection: r.projection.Name}
		if err := w.holds(ctx, RecordDeadLetter, at.partition, at.offset, d.anchor(at)); err != nil {
			return nil, err
		}
	}
	return fetch(ctx, r.src, at.partition, at.offset)
}

// stillAside returns why the event is still aside, nil where it is not.
func (r *Runner) stillAside(ctx context.Context, at ref) error {
	a, err := r.readAside(ctx, at)
	if errors.Is(err, ErrNoDeadLetter) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("it failed again: %s", a.Reason)
}

// amidReplays reports whether the projection, come as far as it has in the partition, has a recorded retry still before it.
func (r *Runner) amidReplays(partition string) bool {
	done := r.done.Partitions[partition]
	for at, p := range r.replays {
		if at.partition == partition && !p.Skip && p.Moment <= done.Offset && done.before(p.done()) {
			return true
		}
	}
	return false
}
