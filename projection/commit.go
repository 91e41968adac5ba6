package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// commit evaluates items of the stretch in order, as far as one commit goes, writes rows, notes and checkpoint, and takes
// the items off the stretch. It reports whether the stretch is done, and is called until it is: where an answer was lost,
// or another process was first, it finds out from what is on record.
func (r *Runner) commit(ctx context.Context, s *stretch) (done bool, err error) {
	if err := r.open(ctx); err != nil {
		return false, err
	}
	if left, err := r.due(s); !left || err != nil {
		return true, err
	}
	items := r.next(s)
	out, tried, took, err := r.prepare(ctx, s, items)
	if err != nil || out == nil {
		return false, err
	}
	if took == 0 && len(items) > 0 {
		return false, nil // the first event begins again, with all that it needs
	}
	if !s.released {
		out.end, out.last, out.watermark = s.end, s.last, s.watermark
		if took < len(s.items) {
			last := &items[took-1]
			out.end, out.last, out.watermark = last.at, last.upTo, last.watermark
		}
	}
	if err := r.write(ctx, out); err != nil {
		return false, err
	}
	r.reached(tried, took)
	s.items, s.from = s.items[took:], out.end
	return len(s.items) == 0, nil
}

// outcome is what becomes of the items of one commit beside rows. It is true once the commit has succeeded.
type outcome struct {
	fold      *fold.Fold // that of the Runner, unless that has given this commit up
	partition string
	slot      string // of the partition: see slotOf
	was       checkpoint
	kind      string // of the notes of what is set aside
	released  bool   // the items were aside
	end       cursor
	last      *eventlog.Event     // as stretch.last
	watermark time.Time           // as stretch.watermark
	rows      int                 // items that went into rows
	tried     uint64              // as checkpoint.Tried
	failed    []uint64            // numbers of those set aside here, as asides.failed
	failing   map[subject]failure // of a subject, the first event that failed here
	asides    []asideItem
	mended    []*eventlog.Event // aside no more
	replays   []replay
	notes     []querydb.Note
}

// failure is an event that failed, and blocks the later ones of its subject.
type failure struct {
	ref
	number uint64 // as deadLetter.Number
}

// asideItem is an event set aside for the first time.
type asideItem struct {
	event  *eventlog.Event
	reason string
	number uint64 // as deadLetter.Number
}

func (r *Runner) newOutcome(ctx context.Context, s *stretch) (*outcome, error) {
	out := &outcome{fold: r.fold, partition: s.partition, released: s.released, failing: map[subject]failure{}}
	out.was, out.kind = r.done.Partitions[s.partition], r.done.kind(kindDeadLetter, r.projection.Name)
	out.tried = out.was.Tried
	out.end, out.watermark = out.was.cursor, out.was.watermark() // where released items take effect; others take it along
	for i := range s.items {
		if s.released {
			s.items[i].watermark = out.watermark
		}
	}
	if out.was.Anchor == nil && out.was.Offset == 0 {
		var err error
		if out.was.Incarnation, err = eventlog.IncarnationOf(ctx, r.src, s.partition); err != nil {
			return nil, err
		}
	}
	out.slot = slotOf(s.partition, out.was.Incarnation)
	return out, nil
}

// claim puts on record which events the rows of a commit may show, before the first of them is written, where rows and
// checkpoint are not one commit. A process that ends between them leaves rows ahead of the checkpoint: a log that has lost
// those events since, or another that a process began with at the same time, is found out by the claim.
func (r *Runner) claim(ctx context.Context, out *outcome, whole bool) error {
	if !r.shared || whole || out.released || len(r.writes) == 0 {
		return nil
	}
	c := out.was
	c.Watermark = c.watermark() // which may hang on the anchor
	if c.Anchor = furthest(c.Anchor, out.last); c.Anchor == out.was.Anchor {
		return nil
	}
	// The note alone, without a look at the header: one about a generation that another has followed is in nobody's way.
	return r.apply(ctx, querydb.Batch{Notes: r.done.notes(r.projection.Name, out.partition, c)[1:]}, out, c)
}

// furthest is the anchor of the event where that is further on and could be read, and else the anchor that there is.
func furthest(a *anchor, e *eventlog.Event) *anchor {
	if e == nil || a != nil && e.Offset <= a.Offset {
		return a
	}
	return cmp.Or(anchorOf(e), a)
}

// checkpoint is what is on record when the outcome is.
func (out *outcome) checkpoint() checkpoint {
	c := out.was
	c.cursor, c.Tried, c.Watermark = out.end, out.tried, out.watermark
	c.Anchor = furthest(c.Anchor, out.last)
	return c
}

// record commits a batch with a checkpoint of the outcome's partition.
func (r *Runner) record(ctx context.Context, b querydb.Batch, out *outcome, c checkpoint) error {
	b.Notes = append(b.Notes, r.done.notes(r.projection.Name, out.partition, c)...)
	return r.apply(ctx, b, out, c)
}

// apply commits a batch that has the checkpoint among its notes.
func (r *Runner) apply(ctx context.Context, b querydb.Batch, out *outcome, c checkpoint) error {
	b.Generation, b.Writer, b.Deadline = r.done.Generation, r.projection.writer(), r.seen.Add(r.cfg.CommitWithin)
	began := r.now()
	r.inWrite = true
	err := r.db.Apply(ctx, b)
	r.inWrite = false
	if err != nil {
		r.known = refused(err)
		return err
	}
	r.done, r.seen = r.done.with(out.partition, c), began
	out.was = r.done.Partitions[out.partition]
	return nil
}

// write commits what the fold and the outcome have.
func (r *Runner) write(ctx context.Context, out *outcome) error {
	var whole, several bool
	r.writes, whole, several = r.fold.Writes(r.writes[:0])
	r.expire(out.partition)
	if out.released && len(r.writes)+len(out.notes) == 0 {
		return nil // all of them wait for another
	}
	if err := r.claim(ctx, out, whole); err != nil {
		out.fold.Forget()
		return err
	}
	err := r.record(ctx, querydb.Batch{Writes: r.writes, Notes: out.notes, Atomic: whole, MultiRow: several}, out, out.checkpoint())
	if err != nil {
		out.fold.Forget()
		return err
	}
	out.fold.Committed(out.end.position(out.slot))
	r.expire(out.partition)
	r.remember(ctx, out)
	r.progress.committed(out.partition, out.end.Offset, len(r.writes), len(r.asides.all))
	return nil
}

// load reads the rows that the items need, once for all of them.
func (r *Runner) load(ctx context.Context, out *outcome, items []item) error {
	out.fold.Reset(out.released)
	if i, err := r.needs(out, items); err != nil {
		return r.abandon(items, i, err)
	}
	first := fold.ApplyPoint{Pos: querydb.Position{Partition: out.slot}, Watermark: out.was.watermark()}
	switch {
	case out.released:
		first.Pos = next(out.end).position(out.slot)
	case len(items) > 0:
		first.Pos, first.Watermark = items[0].at.position(out.slot), items[0].watermark
	}
	return r.fold.Load(ctx, first)
}

// needs collects what the items need, as far as it gets.
func (r *Runner) needs(out *outcome, items []item) (done int, err error) {
	return r.calls.Each(&usercode.Calls{
		N:  len(items),
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			it := &items[i]
			if it.needErr = failed; failed == nil && it.err == nil && !it.skip {
				c.Enter()
				err := out.fold.Need(it.ops, it.occasion(i, out.slot))
				c.Leave()
				it.needErr = err
			}
			return true, nil
		},
	})
}

// next is the place of a set-aside event that takes effect where the projection stands.
func next(c cursor) cursor { return cursor{Offset: c.Offset, Replayed: c.Replayed + 1} }

// occasion is when the i-th item of a commit takes effect.
func (it *item) occasion(i int, slot string) fold.ApplyPoint {
	return fold.ApplyPoint{Event: i + 1, Time: it.event.Time, Watermark: it.watermark, Pos: it.at.position(slot)}
}

// evaluate takes items in order, into the rows or aside, as far as one commit goes, and returns how many.
func (r *Runner) evaluate(out *outcome, items []item) (took int, err error) {
	took, err = r.calls.Each(&usercode.Calls{
		N:  len(items),
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) { return r.take(c, out, items, i, failed) },
	})
	if err == nil && took == 0 && len(items) > 0 && out.fold.Missing().None() {
		return 0, stuck{fmt.Errorf("event %s of %s can be in no commit: this is a defect of foldql",
			refOf(items[0].event), r.projection.Name)}
	}
	return took, err
}

// take takes the i-th item, aside where it has failed. It takes the first, unless that lacks what was not read, or fails.
func (r *Runner) take(c *usercode.Calls, out *outcome, items []item, i int, failed error) (bool, error) {
	it := &items[i]
	if behind, held := r.heldBehind(out, &items[0], it); held {
		if !it.released && r.canSetAside(out) {
			return r.block(out, it, behind)
		}
		return it.released, nil
	}
	if it.skip {
		out.release(r.projection.Name, it, r.decision(out, it, true))
		return true, nil
	}
	err := cmp.Or(it.err, it.needErr, failed)
	if err == nil {
		if r.shared && len(out.asides) > 0 {
			return false, nil
		}
		if it.released {
			it.at = next(out.end)
		}
		c.Enter()
		err = attempt(r.cfg.Attempts, func() error { return out.fold.Eval(it.ops, it.occasion(i, out.slot)) })
		c.Leave()
	}
	var half fold.PartialError
	switch {
	case err == fold.ErrNextCommit:
		return false, nil
	case errors.As(err, &half) || failed != nil && out.fold.PartialAtExit():
		return false, r.stuckAt(it, err)
	case err != nil:
		return r.fail(out, it, err)
	}
	out.rows++
	if it.released {
		out.release(r.projection.Name, it, r.decision(out, it, false))
		out.end = it.at
	} else {
		out.tried++
	}
	return true, nil
}

// heldBehind returns the event that the item must wait for. Items that are released come in order, first is their first.
func (r *Runner) heldBehind(out *outcome, first, it *item) (behind failure, held bool) {
	s := subjectOf(it.event)
	if s.name == "" {
		return failure{}, false
	}
	if behind, held = out.failing[s]; held && !it.overtakes(behind.offset) {
		return behind, true
	}
	offset, held := r.asides.first(s)
	held = held && !it.overtakes(offset)
	if held && it.released {
		held = offset < first.event.Offset && !it.skip
	}
	at := ref{s.partition, offset}
	return failure{at, r.asides.all[at]}, held
}

// overtakes reports whether the item was released while the later event of its subject, at the offset, stayed aside.
func (it *item) overtakes(offset uint64) bool { return it.replayed && offset > it.event.Offset }

// fail sets an event aside that cannot be folded, unless another commit must do so, or too many have failed.
func (r *Runner) fail(out *outcome, it *item, err error) (bool, error) {
	if !r.canSetAside(out) {
		return false, nil
	}
	number := r.numberOf(out, it, err)
	if stop := r.bound(out, it, number, err); stop != nil {
		return false, stop
	}
	r.setAside(out, it, err.Error(), "", number)
	if s := subjectOf(it.event); s.name != "" {
		out.failing[s] = failure{refOf(it.event), number}
	}
	return true, nil
}

// block sets an event aside that waits for one that failed, unless too many have failed or wait.
func (r *Runner) block(out *outcome, it *item, behind failure) (bool, error) {
	const why = "an earlier event of the same subject is set aside"
	var number uint64
	if behind.number > 0 {
		number = out.tried + 1
	}
	if stop := r.bound(out, it, number, fmt.Errorf("%s: %s", why, behind)); stop != nil {
		return false, stop
	}
	r.setAside(out, it, why, behind.String(), number)
	return true, nil
}

// canSetAside reports whether the commit in hand can set an event aside, or another one must. On a Shared store what is
// set aside is committed without rows: rows that have come further than an event say that it went into them, and must
// not say so of one that did not. So whoever folds the event again, of whatever rows a torn commit has left, judges it
// alike; and whoever does not know yet that it was released has written no row that comes after it.
func (r *Runner) canSetAside(out *outcome) bool {
	if !r.shared {
		return true
	}
	most, _ := r.db.TxLimits()
	return out.rows == 0 && len(out.notes)+fold.NoteWrites <= most
}

func (r *Runner) setAside(out *outcome, it *item, reason, behind string, number uint64) {
	out.notes = append(out.notes, asideNote(out.kind, it.event, reason, behind, number))
	if it.released {
		return
	}
	out.asides = append(out.asides, asideItem{it.event, reason, number})
	if number > 0 {
		out.tried, out.failed = number, append(out.failed, number)
	}
}

func (out *outcome) release(projection string, it *item, p replay) {
	out.mended = append(out.mended, it.event)
	out.replays = append(out.replays, p)
	out.notes = append(out.notes, p.note(projection),
		querydb.Note{Kind: out.kind, ID: p.ref.id()})
}

// decision is what is on record of an item that was aside: it is skipped, or takes effect where the projection stands.
func (r *Runner) decision(out *outcome, it *item, skip bool) replay {
	p := replay{ref: refOf(it.event), Skip: skip, Generation: r.done.Generation, Event: anchorOf(it.event)}
	if !skip {
		p.Moment, p.Seq = out.end.Offset, out.end.Replayed
		if a := out.was.Anchor; a != nil && a.Offset == p.Moment {
			p.After = a
		}
	}
	return p
}

// remember takes the outcome of a commit into memory.
func (r *Runner) remember(ctx context.Context, out *outcome) {
	for _, a := range out.asides {
		r.asides.add(subjectOf(a.event), a.event.Offset, a.number)
		r.log.LogAttrs(ctx, slog.LevelWarn, "projection: event set aside",
			slog.String("event", refOf(a.event).String()), slog.String("id", a.event.ID),
			slog.String("source", a.event.Source), slog.String("subject", a.event.Subject),
			slog.String("reason", a.reason))
	}
	for _, e := range out.mended {
		r.asides.remove(subjectOf(e), e.Offset)
	}
	for _, p := range out.replays {
		r.replays[p.ref] = p
	}
}
