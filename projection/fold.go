package projection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// folder is a fold whose rows' type the runner need not know. One window goes through it as
// reset, need of every event, load, eval of event after event as far as one commit goes, writes.
type folder interface {
	// reset begins a window. What is alone is one event that takes effect out of its place.
	reset(alone bool)
	// need collects what load has to read for the ops of one event. An error is the event's own.
	need(ops []Op, at occasion) error
	// load reads all of it, in one batch and a query per partition, for events of which the first is that.
	load(ctx context.Context, first occasion) error
	// ahead reports whether some of what was read has come to the first event, or further: see passed.
	ahead() bool
	// eval takes the ops of one event, all or none. An error is the event's own, but errCut.
	eval(ops []Op, at occasion) error
	// diedHalf reports whether code has ended its goroutine in eval, and some of what its event changes is durable.
	diedHalf() bool
	// survey is eval for the sake of what the event lacks, which is taken for absent: what it makes is not to be written.
	survey(ops []Op, at occasion) error
	// lacked is what events have missed since reset because it was not read; reset asks for it. lack adds to that.
	lacked() lacking
	lack(what lacking)
	// committed says that what was evaluated is durable, of events up to the position; forget that it may not be, or that
	// others have written.
	committed(end querydb.Position)
	forget()
	// torn reports whether some of what the events change was durable when it was read.
	torn() bool
	// writes appends one write per changed row, tells whether they must be one commit, and whether an event has several.
	writes(dst []querydb.Write) (writes []querydb.Write, whole, several bool)
}

// occasion is when an event takes effect.
type occasion struct {
	event     int // ordinal of the event in its window, from 1
	time      time.Time
	watermark time.Time // see watermark.go
	pos       querydb.Position
}

// change is an Op that a fold of R rows can take.
type change[R any] interface {
	Op
	need(f *fold[R], at occasion) error
	eval(f *fold[R], at occasion) error
}

// fold is a window's picture of the rows: what was read, with the ops of the window's events laid over it.
type fold[R any] struct {
	codec *querydb.Codec[R]
	model *querydb.Model
	db    *querydb.DB
	shape shape
	cuts  cuts

	slots   int // of Row.Indexes
	readers int // that read partitions at once

	builder record.Builder
	said    []keys.FieldChange // see nothingSaid
	entries map[keys.Key]*entry[R]
	parts   map[string]*part[R] // partitions of which more is known than rows by their keys
	wanted  []keys.Key
	held    map[claim]holder[R]
	dirty   []*entry[R] // in order of the first change
	journal []undo[R]   // of the event in hand
	gone    []gone      // partitions that are deleted at once
	kept    int         // those of former events
	done    int         // rows of it that are passed
	since   time.Time   // the watermark of the first event
	died    bool        // see diedHalf
	tails   tails
	lacks   lacking // what the events in hand have missed
	given   lacking // what those have missed that were begun again, and is read for them

	surveying bool // see survey
}

// entry is one row of the picture.
type entry[R any] struct {
	key    keys.Key
	wanted bool
	read   bool // it is known what is stored
	dirty  bool
	seen   *sight    // on a Shared store, how the row was when it was read; nil where it was not
	others *R        // the key fields of a row that was there when it was read, and is other writers' alone
	end    time.Time // of that row
	state[R]
}

// state is what an event can change of an entry, and a failing one must give back.
type state[R any] struct {
	row     R
	present bool
	indexes indexKeys
	pos     querydb.Position
	event   int         // of the window, that last changed the row; 0 for none
	time    time.Time   // watermark at the first event of the window that changed it
	stored  querydb.Row // what is to be written
}

type undo[R any] struct {
	entry *entry[R]
	was   state[R]
}

func newFold[R any](codec *querydb.Codec[R], db *querydb.DB, w *querydb.Writer) *fold[R] {
	m := codec.Model
	f := &fold[R]{codec: codec, model: m, shape: shapeOf(m, w), cuts: newCuts(m, db), readers: 1}
	f.db, f.slots = db.ForFold(f.shape.writer), len(m.Indexes)
	if m.Entity != nil {
		f.slots = len(m.Entity.Table.Indexes)
	}
	f.reset(false)
	return f
}

func (f *fold[R]) reset(alone bool) {
	f.cuts.reset(alone)
	f.entries = make(map[keys.Key]*entry[R], len(f.entries))
	f.parts = map[string]*part[R]{}
	if f.shape.unique != nil {
		f.held = make(map[claim]holder[R], len(f.held))
	}
	f.wanted, f.dirty, f.journal, f.gone = f.wanted[:0], nil, f.journal[:0], nil
	f.give()
}

func (f *fold[R]) need(ops []Op, at occasion) (err error) {
	defer recovered(&err)
	for _, op := range ops {
		c, ok := op.(change[R])
		if !ok {
			return fmt.Errorf("op %T does not change rows of %s: a projector returns ops of its own model", op, f.model.Name)
		}
		if err := c.need(f, at); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold[R]) needKey(key keys.Key) error {
	e := f.entry(key)
	if e.wanted {
		return nil
	}
	if err := f.db.Validate(f.model, &querydb.Row{Key: key}); err != nil {
		return err
	}
	e.wanted = true
	f.wanted = append(f.wanted, key)
	if f.cuts.alone && f.shape.sorted {
		f.needPartition(key.PK) // another row of it may be ahead, which was made by following this one
	}
	return nil
}

// needRow is needKey of a row that an op is to write.
func (f *fold[R]) needRow(row *R, key keys.Key, at occasion) error {
	if f.shape.stampedKey {
		_, stamped, err := f.stamped(*row, key, at)
		if err != nil {
			return err
		}
		key = stamped
	}
	return f.needKey(key)
}

// needWritten is needRow of a row that is to be replaced, whatever it is: it is read where that counts all the same.
func (f *fold[R]) needWritten(row *R, key keys.Key, at occasion) error {
	if f.readsReplaced() {
		return f.needRow(row, key, at)
	}
	return nil
}

// readsReplaced reports whether it counts what is replaced.
func (f *fold[R]) readsReplaced() bool { return f.model.CreatedAt >= 0 || f.mustRead() }

// mustRead reports whether also what is replaced or deleted is to be read: where the row may be ahead, be another's under
// the same key, or hold a key that no other row may have.
func (f *fold[R]) mustRead() bool { return f.cuts.alone || f.shape.meets || f.shape.unique != nil }

func (f *fold[R]) load(ctx context.Context, first occasion) error {
	f.cuts.first, f.cuts.ahead, f.since = first.pos, false, first.watermark
	if len(f.wanted) > 0 {
		rows, err := f.db.Get(ctx, f.model, f.wanted, true)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := f.loaded(f.entry(f.wanted[i]), &rows[i]); err != nil {
				return err
			}
		}
	}
	return f.loadPartitions(ctx)
}

func (f *fold[R]) loaded(e *entry[R], row *querydb.Row) error {
	e.seen, e.read = f.cuts.sight(row, f.shape.writer), true
	e.state, e.others = state[R]{}, nil
	if row.Record == nil {
		return nil
	}
	rec, ours := row.Record, true
	if f.shape.sees != nil {
		rec, ours = record.Project(rec, f.shape.sees), slices.Contains(row.Writers, f.shape.writer)
	}
	var r R
	if err := f.codec.Decode(rec, &r); err != nil {
		return rowError{fmt.Errorf("read %s row %q: %w", f.model.Name, e.key, err)}
	}
	e.indexes, e.pos = row.Indexes, row.Position
	if f.shape.unique != nil {
		e.stored.Indexes = row.Indexes
		f.read(e, row)
	}
	if ours {
		e.row, e.present = r, true
	} else {
		e.others, e.end = &r, row.Expires
	}
	return nil
}

func (f *fold[R]) eval(ops []Op, at occasion) (err error) {
	f.journal, f.done, f.died, f.kept = f.journal[:0], 0, false, len(f.gone)
	f.cuts.begin()
	whole := false
	defer func() {
		if whole {
			return
		}
		f.rollback()
		switch {
		case err == nil: // the user's code has ended the goroutine, and takes it up to here
			f.died = f.done > 0
		case f.done > 0 && err != errCut:
			err = halfDone{err}
		}
	}()
	defer recovered(&err)
	for _, op := range ops {
		if err := op.(change[R]).eval(f, at); err != nil {
			return err
		}
	}
	if err := f.storeAll(); err != nil {
		return err
	}
	if err := f.cut(at); err != nil {
		return err
	}
	f.cuts.several = f.cuts.several || len(f.journal)+f.done > 1
	if f.shape.unique != nil {
		err = f.claim(at)
	}
	whole = err == nil
	return err
}

func (f *fold[R]) diedHalf() bool { return f.died }

// storeAll makes what is to be written of the rows that the event in hand has changed, as far as it may write so much.
func (f *fold[R]) storeAll() error {
	bytes := 0
	for _, u := range f.journal {
		if err := f.store(u.entry); err != nil {
			return err
		}
		size := u.entry.size()
		f.cuts.bytes += size - u.was.size()
		if bytes += size; bytes > f.cuts.mostOfEvent {
			return fmt.Errorf("%w: the event writes more than %d bytes of rows: write less, or raise the bound "+
				"(RunnerConfig.MaxRowBytes, --max-row-bytes)", querydb.ErrTooLarge, f.cuts.mostOfEvent)
		}
	}
	return nil
}

// store makes what is to be written of an entry that the event in hand has changed; whoever changed it has seen to it
// that the row keeps its key. It is made after each event, and not once per window, so that a row which cannot be stored
// fails its event whatever the next event would make of it.
func (f *fold[R]) store(e *entry[R]) error {
	e.stored = querydb.Row{Key: e.key}
	if e.present {
		var err error
		if e.stored, err = querydb.EncodeWithKey(f.codec, &f.builder, &e.row, e.key); err != nil {
			return err
		}
		if e.indexes != nil {
			e.stored.Indexes = e.indexes
		}
	}
	e.stored.Position = e.pos
	return f.db.Validate(f.model, &e.stored)
}

// rollback gives every row back that the event in hand changed, and what its evaluation has decided about the commit: an
// evaluation that fails leaves no trace, so that the next one, of this event or of another, is judged as without it.
func (f *fold[R]) rollback() {
	for _, u := range f.journal {
		u.entry.state = u.was
	}
	for _, g := range f.gone[f.kept:] {
		f.parts[g.pk].gone = false
	}
	f.gone = f.gone[:f.kept]
	f.cuts.takeBack()
}

func (f *fold[R]) writes(dst []querydb.Write) (writes []querydb.Write, whole, several bool) {
	for _, g := range f.gone {
		row := querydb.Row{Key: keys.Key{PK: g.pk}, Position: g.pos}
		dst = append(dst, querydb.Write{Model: f.model, Row: row, Partition: true})
	}
	for _, e := range f.dirty {
		if e.event == 0 { // every event that changed it was taken back
			continue
		}
		w := querydb.Write{Model: f.model, Row: e.stored, Time: e.time}
		if e.seen != nil {
			w.Read, w.Row.Revision = true, e.seen.revision
		}
		dst = append(dst, w)
	}
	return dst, f.cuts.whole, f.cuts.several
}

// entry returns the entry of a key, absent until it is loaded or written.
func (f *fold[R]) entry(key keys.Key) *entry[R] {
	e := f.entries[key]
	if e == nil {
		e = f.entryOf(key)
		if p := f.parts[key.PK]; p != nil {
			p.entries = append(p.entries, e)
			if p.whole { // it was read, and the row was not there
				e.seen, e.read = f.cuts.sight(&querydb.Row{}, f.shape.writer), true
			}
		}
	}
	return e
}

// entryOf is entry while rows are read.
func (f *fold[R]) entryOf(key keys.Key) *entry[R] {
	e := f.entries[key]
	if e == nil {
		e = &entry[R]{key: key}
		f.entries[key] = e
	}
	return e
}

// visible reports whether there is a row for the event: one that has expired is gone.
func (f *fold[R]) visible(e *entry[R], at occasion) bool { return e.present && f.lasts(&e.row, at) }

// lasts reports whether a row has not expired.
func (f *fold[R]) lasts(row *R, at occasion) bool {
	if f.model.TTL < 0 {
		return true
	}
	expires := f.codec.Time(row, f.model.TTL)
	return expires.IsZero() || expires.After(at.watermark)
}

// stamped returns the row that an op brings with the time of the event in its key, and the key, where the key holds
// such a field; any other row as it is.
func (f *fold[R]) stamped(row R, key keys.Key, at occasion) (R, keys.Key, error) {
	if !f.shape.stampedKey {
		return row, key, nil
	}
	for _, field := range [...]int{f.model.CreatedAt, f.model.UpdatedAt} {
		if field >= 0 {
			f.codec.SetTime(&row, field, at.time)
		}
	}
	key, err := querydb.KeyOf(f.codec, &row)
	return row, key, err
}

// replace writes a whole row: none of its former index keys are kept, but those that are another writer's.
func (f *fold[R]) replace(e *entry[R], row R, at occasion) error {
	if err := f.identical(e, &row, at); err != nil {
		return err
	}
	f.stamp(e, &row, f.visible(e, at), at)
	var indexes indexKeys
	if f.shape.writer != "" {
		var err error
		if indexes, err = f.keysOf(e, false, at); err == nil {
			err = f.putAll(indexes, &row)
		}
		if err != nil {
			return err
		}
	}
	f.write(e, row, indexes, at)
	return nil
}

// update writes a row that was read before.
func (f *fold[R]) update(e *entry[R], row R, at occasion) error {
	if err := f.sameKey(e, &row, at); err != nil {
		return err
	}
	f.stamp(e, &row, true, at)
	indexes, err := f.updated(e, &row)
	if err != nil {
		return err
	}
	f.write(e, row, indexes, at)
	return nil
}

// stamp gives the row that is to be written over an entry the times of its first and its last write. Keys of indexes may be
// made of them, and are judged after that.
func (f *fold[R]) stamp(e *entry[R], row *R, exists bool, at occasion) {
	if c := f.model.CreatedAt; f.shape.stamps[0] {
		created := at.time
		if exists {
			created = f.codec.Time(&e.row, c)
		}
		f.codec.SetTime(row, c, created)
	}
	if u := f.model.UpdatedAt; f.shape.stamps[1] {
		f.codec.SetTime(row, u, at.time)
	}
}

// stamps reports whether the field is one that stamp fills.
func (f *fold[R]) stamps(field int) bool {
	return f.shape.stamps[0] && field == f.model.CreatedAt || f.shape.stamps[1] && field == f.model.UpdatedAt
}

func (f *fold[R]) write(e *entry[R], row R, indexes indexKeys, at occasion) {
	f.touch(e, at)
	e.row, e.present, e.indexes = row, true, indexes
}

func (f *fold[R]) remove(e *entry[R], at occasion) {
	f.touch(e, at)
	var none R
	e.row, e.present, e.indexes = none, false, nil
}

// touch notes the state of the entry before the event's first change of it.
func (f *fold[R]) touch(e *entry[R], at occasion) {
	if e.event == at.event {
		return
	}
	f.journal = append(f.journal, undo[R]{e, e.state})
	if e.event == 0 {
		e.time = at.watermark
	}
	e.event, e.pos = at.event, at.pos
	if p := f.parts[e.key.PK]; p != nil {
		p.add(standing[R]{e, at.pos})
	}
	if !e.dirty {
		e.dirty = true
		f.dirty = append(f.dirty, e)
	}
}

// sameKey fails where a row that is to be written over an entry has another key.
func (f *fold[R]) sameKey(e *entry[R], row *R, at occasion) error {
	if e.present && f.sameKeyFields(&e.row, row) {
		return nil
	}
	got, err := querydb.KeyOf(f.codec, row)
	if err != nil {
		return err
	}
	if got != e.key {
		return fmt.Errorf("%s row %q would get the key %q: a row keeps its key; delete it and create another",
			f.model.Name, e.key, got)
	}
	return f.identical(e, row, at)
}

func (f *fold[R]) sameKeyFields(a, b *R) bool {
	for field, isKey := range f.shape.isKey {
		if isKey && f.codec.Value(a, field) != f.codec.Value(b, field) {
			return false
		}
	}
	return true
}
