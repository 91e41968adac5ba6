package delivery

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// An event that cannot be folded becomes a dead letter: it could not be decoded or its projector failed, for which
// reader.projectAll has set the item's err, or its ops cannot be evaluated. Later events of its subject are blocked by
// it, and become dead letters too.

// evaluate takes items in order, into rows or dead letters, as far as one commit goes, and returns how many.
func (v *evaluator) evaluate(out *outcome, items []item) (took int, err error) {
	took, err = v.calls.Each(&usercode.Calls{
		N: len(items), Between: v.turns.Rest,
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) { return v.take(c, out, items, i, failed) },
	})
	if err == nil && took == 0 && len(items) > 0 && out.fold.Missing().None() {
		return 0, stuckError{fmt.Errorf("event %s of %s can be in no commit: this is a defect of foldql",
			position.RefOf(items[0].event), v.projection.Name)}
	}
	return took, err
}

// take takes the i-th item, as a dead letter where it has failed. It takes the first, unless that lacks what was not
// read, or fails.
func (v *evaluator) take(c *usercode.Calls, out *outcome, items []item, i int, failed error) (bool, error) {
	it := &items[i]
	it.letter = it.released || it.replayed && v.state.Letters.Has(position.RefOf(it.event))
	t := taking{v, out, it}
	if t.waits() {
		return false, nil
	}
	if t.passesOver() {
		return true, nil
	}
	if behind, blocked := v.blockedBy(out, &items[0], it); blocked {
		if !it.released && v.takesLetters(out) {
			return t.block(behind)
		}
		return it.released, nil
	}
	if it.skip {
		out.resolve(it, true)
		return true, nil
	}
	if it.released {
		it.at = v.next(out)
	}
	err := cmp.Or(it.err, it.needErr, failed)
	if err == nil {
		if v.shared && len(out.letters) > 0 {
			return false, nil
		}
		c.Enter()
		err = usercode.Attempt(v.cfg.Attempts, fold.ErrNextCommit, func() error {
			return out.fold.Eval(it.ops, it.applyPoint(i, out.slot))
		})
		c.Leave() // unless user code has ended the goroutine
	}
	var partial fold.PartialError
	switch {
	case err == fold.ErrNextCommit:
		return false, nil
	case errors.As(err, &partial) || failed != nil && out.fold.PartialAtExit():
		return false, stuckAt(it, err)
	case err != nil:
		return t.fail(err)
	}
	t.folded()
	return true, nil
}

// taking is an item that a commit takes.
type taking struct {
	*evaluator
	out *outcome
	it  *item
}

// waits reports whether the item is for another commit, because dead letters take effect before it.
func (t taking) waits() bool {
	out, it := t.out, t.it
	if len(out.appeared) > 0 || len(out.left) > 0 && !it.replayed {
		return true
	}
	return it.replayed && out.hasLetterOf(it) || t.shared && it.replays() && len(out.resolved) > 0
}

// passesOver reports whether nothing is done about the item here: it has taken effect at its own place, or rows of
// later events are written already, which it then follows.
func (t taking) passesOver() bool {
	if t.it.ifLetter && !t.it.letter {
		return true
	}
	if t.shared && t.it.replays() && t.out.fold.Ahead() {
		t.out.postponed = append(t.out.postponed, position.RefOf(t.it.event))
		return true
	}
	return false
}

// folded notes that the item has gone into rows.
func (t taking) folded() {
	t.out.rows++
	t.lookForAwaited(t.out)
	if t.it.letter {
		t.out.resolve(t.it, false)
	} else {
		t.out.tried++
	}
	switch {
	case t.it.released:
		t.out.end = t.it.at
	case t.it.replayed:
		t.wakeBehind()
	}
}

// next is where the projection has come to with the next item that is released. Where something was decided about that
// in other rows, the place is on no record, and may be that of another event in those.
func (v *evaluator) next(out *outcome) position.Cursor {
	if out.settles {
		return out.end.Next()
	}
	return v.state.ApplyPoints.Free(out.partition, out.end, v.db.Generations().Build()).Next()
}

// wakeBehind has the first dead letter of the subject retried that waited for the item: nothing is on record of it,
// since it was none when the item was tried before.
func (t taking) wakeBehind() {
	s := deadletter.SubjectOf(t.it.event)
	if offset, held := t.state.Letters.FirstBut(s, t.out.gone); held && offset > t.it.event.Offset {
		t.out.left = append(t.out.left, position.Ref{Partition: s.Partition, Offset: offset})
	}
}

// blockedBy returns the event that the item must wait for. Items that are released come in order, first is their first.
func (v *evaluator) blockedBy(out *outcome, first, it *item) (behind failure, blocked bool) {
	s := deadletter.SubjectOf(it.event)
	if s.Name == "" {
		return failure{}, false
	}
	if it.behind != (position.Ref{}) && !it.released {
		return failure{Ref: it.behind}, true
	}
	if behind, blocked = out.failing[s]; blocked && !it.overtakes(behind.Offset) {
		return behind, true
	}
	offset, blocked := v.state.Letters.FirstBut(s, out.gone)
	blocked = blocked && !it.overtakes(offset)
	if blocked && it.released {
		blocked = offset < first.event.Offset && !it.skip
	}
	at := position.Ref{Partition: s.Partition, Offset: offset}
	return failure{at, v.state.Letters.Number(at)}, blocked
}

// overtakes reports whether the item was released while the event of its subject at the offset, itself or a later one,
// was a dead letter.
func (it *item) overtakes(offset uint64) bool { return it.replayed && offset >= it.event.Offset }

// replays reports whether the item is a dead letter that is tried where it is on record.
func (it *item) replays() bool { return it.letter && it.replayed }

// fail makes an event a dead letter that cannot be folded, unless another commit must do so, or there are too many.
func (t taking) fail(err error) (bool, error) {
	if !t.takesLetters(t.out) {
		return false, nil
	}
	number := t.numberOf(err)
	if stop := t.tooMany(number, err); stop != nil {
		return false, stop
	}
	t.it.tried = t.triedAt()
	if t.it.released && !t.out.settles {
		d := t.out.decisionOn(t.it)
		d.Failed = t.projection.version()
		t.out.decide(d)
		t.it.tried = new(d.Done())
	}
	t.out.addLetter(t.it, err.Error(), "", number, causeOf(err))
	if t.it.released {
		t.out.end = t.it.at
	}
	if s := deadletter.SubjectOf(t.it.event); s.Name != "" {
		t.out.failing[s] = failure{position.RefOf(t.it.event), number}
	}
	return true, nil
}

// triedAt is where the retry of the item is on record that is made now; nil where none is.
func (t taking) triedAt() *position.Cursor {
	switch d, decided := t.state.Decisions[position.RefOf(t.it.event)]; {
	case t.it.replayed:
		return &t.it.at
	case t.out.settles && decided:
		at := d.Done()
		return &at
	}
	return nil
}

// block makes an event a dead letter that waits for one that failed, unless there are too many.
func (t taking) block(behind failure) (bool, error) {
	const why = "an earlier event of the same subject is a dead letter"
	var number uint64
	switch {
	case t.it.letter:
		number = t.state.Letters.Number(position.RefOf(t.it.event))
	case behind.number > 0:
		number = t.out.tried + 1
	}
	if stop := t.tooMany(number, fmt.Errorf("%s: %s", why, behind)); stop != nil {
		return false, stop
	}
	t.it.tried = t.triedAt()
	t.out.addLetter(t.it, why, behind.String(), number, deadletter.Cause{})
	return true, nil
}

// takesLetters reports whether the commit in hand can make an event a dead letter, or another one must. On a shared
// store dead letters are committed without rows: rows that have come further than an event say that it went into
// them, and must not say so of one that did not. So whoever folds the event again, of whatever rows a partial commit
// has left, judges it alike; and whoever does not know yet that it was released has written no row that comes after
// it.
func (v *evaluator) takesLetters(out *outcome) bool {
	if !v.shared {
		return true
	}
	most, _ := v.db.TxLimits()
	return out.rows == 0 && len(out.notes)+fold.NoteWrites <= most
}

// numberOf is the number of an event that has failed, 0 where it has none. A retry changes nothing about it.
func (t taking) numberOf(why error) uint64 {
	switch {
	case t.it.letter:
		return t.state.Letters.Number(position.RefOf(t.it.event))
	case errors.Is(why, fold.ErrNoRow):
		return 0
	}
	return t.out.tried + 1
}

// tooMany returns the StopError of a projection that must not make another dead letter, nil where it may. An event that
// was retried in an earlier fold is decided already, and none to stop at.
func (t taking) tooMany(number uint64, why error) *StopError {
	if number == 0 || t.it.released || t.it.replayed {
		return nil
	}
	limit := deadletter.Limit(t.cfg.MaxDeadLetterPercent)
	letters, among, exceeded := limit.Exceeded(t.state.Letters, t.out.partition, t.out.failed, number)
	if !exceeded {
		return nil
	}
	stop := newStop(t.it,
		fmt.Sprintf("%d of the last %d events that the projection came to in partition %q have failed or are blocked, more "+
			"than %d %%, this one with: %s", letters, among, t.out.partition, limit, deadletter.ShortReason(why.Error())),
		"correct the code, restart, and retry the dead letters; or raise the bound (RunnerConfig.MaxDeadLetterPercent, "+
			"--max-dead-letters) and restart; or skip the event")
	stop.number = number
	return stop
}

// causeOf is what is on record of why an event has failed, beside words.
func causeOf(err error) (cause deadletter.Cause) {
	errors.As(err, &cause.Overflow)
	var follow *fold.CascadeOverflowError
	if errors.As(err, &follow) {
		cause.TooManyFollow = (*deadletter.TooManyFollow)(follow)
	}
	var missing *fold.RefNotFoundError
	if errors.As(err, &missing) {
		cause.Missing = &deadletter.MissingRow{
			Model: missing.Model, Field: missing.Field, RefModel: missing.RefModel, RefID: missing.RefID,
			PK: missing.Key.PK, SK: missing.Key.SK,
		}
	}
	return cause
}
