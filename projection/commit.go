package projection

import (
	"context"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// outcome is what becomes of the items of one commit beside rows. It is true once the commit has succeeded.
type outcome struct {
	end      cursor
	failing  map[subject]ref // the first event of a subject that failed here
	asides   []asideItem
	released []*eventlog.Event // aside no more
	replays  []replay
	notes    []querydb.Note
}

// asideItem is an event set aside for the first time.
type asideItem struct {
	event  *eventlog.Event
	reason string
}

// commit evaluates items in order, and writes rows, notes and checkpoint at once. Called again with the same items
// after an error, it first finds out whether they were committed all the same.
func (r *Runner) commit(ctx context.Context, partition string, items []item, end cursor) error {
	if committed, err := r.settle(ctx); committed || err != nil {
		return err
	}
	out := outcome{end: end, failing: map[subject]ref{}}
	if len(items) > 0 && items[0].released {
		out.end = r.done.Partitions[partition] // they take effect now
	}
	if err := r.load(ctx, partition, items); err != nil {
		return err
	}
	for i := range items {
		r.evaluate(&out, items, i, partition)
	}
	r.writes = r.fold.writes(r.writes[:0])
	next := attempted{partition: partition, done: r.done.with(partition, out.end), rows: len(r.writes), outcome: &out}
	notes := append(out.notes, next.done.note(r.projection.Name))
	if err := r.db.Apply(ctx, querydb.Batch{Writes: r.writes, Notes: notes}); err != nil {
		if !refused(err) {
			r.doubt = &next
		}
		return err
	}
	r.committed(ctx, &next)
	return nil
}

// attempted is a commit whose answer is not known yet.
type attempted struct {
	partition string
	done      checkpoint
	rows      int
	outcome   *outcome
}

// settle finds out whether the last commit happened, where its answer was lost: folding its events again would count
// them twice.
func (r *Runner) settle(ctx context.Context) (committed bool, err error) {
	if r.doubt == nil {
		return false, nil
	}
	stored, _, err := readCheckpoint(ctx, r.db, r.projection.Name)
	if err != nil {
		return false, err
	}
	next := r.doubt
	r.doubt = nil
	if stored.Commit != next.done.Commit {
		return false, nil
	}
	r.committed(ctx, next)
	return true, nil
}

// committed takes a commit into memory.
func (r *Runner) committed(ctx context.Context, c *attempted) {
	r.done = c.done
	r.remember(ctx, c.outcome)
	r.progress.committed(c.partition, c.outcome.end.Offset, c.rows, r.asides.count)
}

// load reads the rows that the items need, once for all of them.
func (r *Runner) load(ctx context.Context, partition string, items []item) error {
	r.fold.reset()
	for i := range items {
		it := &items[i]
		it.needErr = nil
		if it.err == nil && !it.skip {
			it.needErr = r.fold.need(it.ops, it.occasion(i, partition))
		}
	}
	return r.fold.load(ctx, partition)
}

// occasion is when the i-th item of a commit takes effect.
func (it *item) occasion(i int, partition string) occasion {
	return occasion{
		event: i + 1,
		time:  it.event.Time,
		pos:   querydb.Position{Partition: partition, Offset: it.at.Offset},
	}
}

// evaluate takes one item: into the rows, or aside.
func (r *Runner) evaluate(out *outcome, items []item, i int, partition string) {
	it := &items[i]
	if behind, held := r.heldBehind(out, &items[0], it); held {
		if !it.released {
			out.setAside(r.projection.Name, it, "an earlier event of the same subject is set aside", behind.String())
		}
		return
	}
	if it.skip {
		out.release(r.projection.Name, it, replay{ref: refOf(it.event), Skip: true})
		return
	}
	err := it.err
	if err == nil {
		err = it.needErr
	}
	if err == nil {
		err = attempt(r.cfg.Attempts, func() error { return r.fold.eval(it.ops, it.occasion(i, partition)) })
	}
	if err != nil {
		if s := subjectOf(it.event); s.name != "" {
			out.failing[s] = refOf(it.event)
		}
		out.setAside(r.projection.Name, it, err.Error(), "")
		return
	}
	if it.released {
		out.release(r.projection.Name, it,
			replay{ref: refOf(it.event), Moment: out.end.Offset, Seq: out.end.Replayed})
		out.end.Replayed++
	}
}

// heldBehind returns the event that the item must wait for. Items that are released come in order, first is their first.
func (r *Runner) heldBehind(out *outcome, first, it *item) (behind ref, held bool) {
	s := subjectOf(it.event)
	if s.name == "" {
		return ref{}, false
	}
	if behind, held = out.failing[s]; held {
		return behind, true
	}
	offset, held := r.asides.first(s)
	if held && it.released {
		held = offset < first.event.Offset && !it.skip
	}
	return ref{s.partition, offset}, held
}

func (out *outcome) setAside(projection string, it *item, reason, behind string) {
	out.notes = append(out.notes, asideNote(projection, it.event, reason, behind))
	if !it.released {
		out.asides = append(out.asides, asideItem{it.event, reason})
	}
}

func (out *outcome) release(projection string, it *item, p replay) {
	out.released = append(out.released, it.event)
	out.replays = append(out.replays, p)
	out.notes = append(out.notes, p.note(projection),
		querydb.Note{Kind: kindAside + projection, ID: p.ref.id()})
}

// remember takes the outcome of a commit into memory.
func (r *Runner) remember(ctx context.Context, out *outcome) {
	for _, a := range out.asides {
		r.asides.add(subjectOf(a.event), a.event.Offset)
		r.log.LogAttrs(ctx, slog.LevelWarn, "projection: event set aside",
			slog.String("event", refOf(a.event).String()), slog.String("id", a.event.ID),
			slog.String("source", a.event.Source), slog.String("subject", a.event.Subject),
			slog.String("reason", a.reason))
	}
	for _, e := range out.released {
		r.asides.remove(subjectOf(e), e.Offset)
	}
	for _, p := range out.replays {
		r.replays[p.ref] = p
	}
}
