// Package fold evaluates the ops of events on copies of rows.
//
// A [Fold] is a window's picture of the rows: what was read of the store, with the ops of the window's events laid
// over it. It says which rows the ops need, reads them in one batch, evaluates event after event as far as one commit
// goes, and gives the writes of that commit: one per changed row. An event is evaluated as a whole or leaves no
// trace.
//
// A Fold holds the rows of one or several models, and each [Op] finds those of its own. What a commit is bounded by,
// and whether an event is partly durable, is judged over all of them.
package fold

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Fold folds events into rows. A window goes through it as Reset, Need of every event, Load, Eval of event after
// event as far as one commit goes, and Writes.
type Fold struct {
	bounds  *bounds
	members []member // the rows of each model
	died    bool     // see PartialAtExit
}

// ApplyPoint is where an event takes effect.
type ApplyPoint struct {
	Event     int // ordinal of the event in its window, from 1
	Time      time.Time
	Watermark time.Time // rows that end at or before it have expired
	Pos       querydb.Position
	Origin    Origin
}

// Limits bound a Fold.
type Limits struct {
	RowBytes       int // of the rows that an event may write, and after which a commit takes no other event
	ParallelReads  int // partitions that are read at once on a shared store
	AggregateItems int // of one aggregate
}

// Model is a model whose rows a Fold holds: see ModelOf.
type Model struct {
	Model   *querydb.Model
	Sources []*querydb.Model // of the copies that its rows hold
	// Reindex gives a stored row the index keys of the model: see querydb.AnyCodec.Reindex.
	Reindex   func(b *record.Builder, former []int, stored querydb.Row) (querydb.Row, error)
	newMember func(db *querydb.DB, b *bounds, readers int) member
	newWhole  func(db *querydb.DB, b *bounds, readers int) member
}

// Whole is the model with what all projections write that write its rows.
func (m Model) Whole() Model {
	m.newMember = m.newWhole
	return m
}

// ModelOf is the model of a codec, whose rows the writer writes: nil where it has only one.
func ModelOf(codec querydb.AnyCodec, writer *querydb.Writer) Model {
	var sources []*querydb.Model
	for _, ref := range codec.References() {
		sources = append(sources, ref.Source)
	}
	return Model{
		Model: codec.Model, Sources: sources,
		Reindex: codec.Reindex,
		newMember: func(db *querydb.DB, b *bounds, readers int) member {
			return newModelFold(codec, db, writer, b, readers)
		},
		newWhole: func(db *querydb.DB, b *bounds, readers int) member { return newWholeFold(codec, db, b, readers) },
	}
}

// New makes the Fold of the rows of models, with those that their rows hold copies of among them. On a shared store
// these are as the checkpoint says, since rows and checkpoint are one commit: whoever folds an event again makes the
// same copies.
func New(db *querydb.DB, limits Limits, models ...Model) *Fold {
	f := &Fold{bounds: newBounds(db, limits)}
	readers := 1
	if f.bounds.shared {
		readers = limits.ParallelReads
	}
	for _, m := range models {
		f.bounds.add(m.Model)
		f.bounds.atomic = f.bounds.atomic || len(models) > 1 || len(m.Sources) > 0
		f.members = append(f.members, m.newMember(db, f.bounds, readers))
	}
	for _, m := range f.members {
		m.setMembers(f.members)
		m.bind(f.members)
	}
	f.Reset(false)
	return f
}

// Reset begins a window. What is alone is one event that takes effect out of its place. What former evaluations have
// missed is asked for.
func (f *Fold) Reset(alone bool) {
	f.bounds.reset(alone)
	for _, m := range f.members {
		m.reset()
	}
}

// memberOf finds the rows that an op changes.
func (f *Fold) memberOf(op Op) (member, error) {
	if op != nil {
		for _, m := range f.members {
			if m.model() == op.model() {
				return m, nil
			}
		}
	}
	var names []string
	for _, m := range f.members {
		names = append(names, m.model().Name)
	}
	of := "nil"
	if op != nil {
		of = "of " + op.model().Name
	}
	return nil, fmt.Errorf("an op is %s and does not change rows of %s: a projector returns ops of its own model, and of "+
		"those that are folded with it", of, strings.Join(names, " or "))
}

// Need collects what Load has to read for the ops of one event. An error is the event's own.
func (f *Fold) Need(ops []Op, at ApplyPoint) (err error) {
	defer usercode.Recovered(&err)
	for _, op := range ops {
		m, err := f.memberOf(op)
		if err == nil {
			err = m.need(op, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Load reads what events need, in one batch and a query per partition, for events of which the first is that.
func (f *Fold) Load(ctx context.Context, first ApplyPoint, links Links) error {
	f.bounds.first, f.bounds.ahead, f.bounds.since = first.Pos, false, first.Watermark
	for _, m := range f.members {
		if err := m.loadLinks(ctx, links); err != nil {
			return err
		}
	}
	for _, m := range f.members {
		if err := m.load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Ahead reports whether some of what was read has come to the first event, or further: another commit, of this
// process or of another, has got that far without a checkpoint.
func (f *Fold) Ahead() bool { return f.bounds.ahead }

// Eval takes the ops of one event, all or none. An error is the event's own, but for ErrNextCommit; a PartialError
// where some of what the event changes is durable.
func (f *Fold) Eval(ops []Op, at ApplyPoint) (err error) {
	f.died = false
	f.bounds.begin()
	for _, m := range f.members {
		m.begin()
	}
	whole := false
	defer func() {
		if whole {
			return
		}
		f.rollback()
		switch {
		case err == nil: // the user's code has ended the goroutine, and takes it up to here
			f.died = f.bounds.done > 0
		case f.bounds.done > 0 && err != ErrNextCommit:
			err = PartialError{err}
		}
	}()
	defer usercode.Recovered(&err)
	for _, op := range ops {
		m, err := f.memberOf(op)
		if err == nil {
			err = m.eval(op, at)
		}
		if err != nil {
			return err
		}
	}
	err = f.bound(at)
	whole = err == nil
	return err
}

// bound has what the event in hand has changed encoded, and judges whether it fits into the commit.
func (f *Fold) bound(at ApplyPoint) error {
	for _, m := range f.members {
		if err := m.gather(at); err != nil {
			return err
		}
	}
	for _, m := range f.members { // of all models before the first row is encoded
		if err := m.fill(at); err != nil {
			return err
		}
	}
	for _, m := range f.members {
		if err := m.cascade(at); err != nil {
			return err
		}
	}
	for _, m := range f.members {
		if err := m.encode(); err != nil {
			return err
		}
	}
	if err := cut(f, at); err != nil {
		return err
	}
	changed, cut := f.bounds.done, false
	for _, m := range f.members {
		changed += m.changed()
		cut = m.judgeUniqueKeys(at) || cut
	}
	f.bounds.several = f.bounds.several || changed > 1
	if cut || f.bounds.full && at.Event > 1 {
		return ErrNextCommit
	}
	for _, m := range f.members {
		m.takeUniqueKeys()
	}
	return nil
}

// rollback gives every row back that the event in hand changed, and what its evaluation has decided about the commit:
// an evaluation that fails leaves no trace, so that the next one, of this event or of another, is judged as without
// it.
func (f *Fold) rollback() {
	for _, m := range f.members {
		m.rollback()
	}
	f.bounds.takeBack()
}

// Written yields the rows that the last event has written and not deleted.
func (f *Fold) Written() iter.Seq2[*querydb.Model, keys.Key] {
	return func(yield func(*querydb.Model, keys.Key) bool) {
		for _, m := range f.members {
			if !m.written(yield) {
				return
			}
		}
	}
}

// PartialAtExit reports whether code has ended its goroutine in Eval, and some of what its event changes is durable.
func (f *Fold) PartialAtExit() bool { return f.died }

// Partial reports whether some of what the events change was durable when it was read.
func (f *Fold) Partial() bool { return f.bounds.passed }

// Survey is Eval for the sake of what the event lacks, which is taken for absent: what it makes is not to be written.
// It is urgent for the event at which Eval has ended.
func (f *Fold) Survey(ops []Op, at ApplyPoint, urgent bool) error {
	f.bounds.surveying, f.bounds.urgent = true, urgent
	defer func() { f.bounds.surveying, f.bounds.urgent = false, true }()
	return f.Eval(ops, at)
}

// IsCrowded reports whether events have missed links to more rows than were read for one commit: what it has come to is
// better committed than evaluated again.
func IsCrowded(f *Fold) bool { return f.bounds.crowded }

// Missing is what events have missed, since Reset, because it was not read; Reset asks for it.
func (f *Fold) Missing() Missing {
	all := make(Missing, len(f.members))
	for i, m := range f.members {
		all[i] = m.missed()
	}
	return all
}

// AddMissing adds to what events have missed.
func (f *Fold) AddMissing(what Missing) {
	for i, m := range f.members {
		m.miss(what[i])
	}
}

// Committed says that what was evaluated is durable, of events up to the position.
func (f *Fold) Committed(end querydb.Position) {
	for _, m := range f.members {
		m.committed(end)
	}
}

// Forget says that what was evaluated may not be durable, or that others have written.
func (f *Fold) Forget() {
	for _, m := range f.members {
		m.forget()
	}
}

// Writes appends one write per changed row, tells whether they must be one commit, and whether an event has several.
func (f *Fold) Writes(dst []querydb.Write) (writes []querydb.Write, whole, several bool) {
	for _, m := range f.members {
		dst = m.writes(dst)
	}
	return dst, f.bounds.whole, f.bounds.several
}

// ErrNextCommit says that the event in hand cannot be in one commit with those before it.
var ErrNextCommit = errors.New("the event begins another commit")

// ErrNoRow is of an event that needs a row which is not there, and may come.
var ErrNoRow = errors.New("there is no such row")

// RowError is a stored row that cannot be read, whatever the store does.
type RowError struct{ error }

// Unwrap returns what is wrong with the row.
func (e RowError) Unwrap() error { return e.error }

// PartialError is why an event cannot be folded of which some rows are durable.
type PartialError struct{ error }

// Unwrap returns why the event cannot be folded.
func (e PartialError) Unwrap() error { return e.error }
