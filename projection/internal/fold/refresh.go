package fold

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// Refresh is the op that has the copy which the row of the link holds follow the row that it is of, as the task says.
func (t Tracked) Refresh(l cascade.Link, task *cascade.Task) Op {
	return t.of(l.Model).refresh(l, task)
}

func (f *tracking) refresh(l cascade.Link, t *cascade.Task) Op {
	return &refreshOp{target{of: f.of.desc, key: l.Key}, copied{f.at(l.Field), l.Identifier}, t}
}

// refreshOp brings a copy up to date. It is no event's: the row keeps the position and the times of its last event.
type refreshOp struct {
	target
	copied
	task *cascade.Task
}

func (o *refreshOp) need(f *modelFold, _ ApplyPoint) error {
	source, err := querydb.KeyByIdentifier(f.refs.all[o.ref].Source, o.id)
	if err == nil {
		err = f.refs.sources[o.ref].needKey(source)
	}
	if err != nil {
		return err
	}
	return f.needKey(o.key)
}

func (o *refreshOp) eval(f *modelFold, at ApplyPoint) error {
	e := f.entry(o.key)
	if !e.present {
		return nil
	}
	filters, asked, schema := o.task.Filters(f.desc.Name)
	asked = asked || slices.ContainsFunc(filters, func(filter map[string]any) bool {
		return cascade.Matches(f.of.codec, e.row, filter)
	})
	if !asked && (!schema || !f.refs.all[o.ref].FollowsAfter()) {
		return nil
	}
	return f.refreshCopies(e, o.copied, asked, o.task, at)
}

// holds reports whether the row refers to the one of the copy, and whether it holds the copy in all places.
func (f *tracking) holds(e *entry, c copied) (held, filled bool) {
	if !e.present {
		return false, false
	}
	ref := &f.all[c.ref]
	filled = true
	for place := range ref.Places(e.row) {
		if ref.Identifier(e.row, place) == c.id {
			held, filled = true, filled && ref.Filled(e.row, place)
		}
	}
	return held, filled
}

// refreshCopies has a copy in a row, if it has it, follow the row that it is of, by a task or, without one, in the
// commit of the change. One that is filled in stays without a cascade, unless an op has asked, and so does one of a row
// that is gone, unless that was deleted, as no row was that existed after its change, and the copy is to be null.
func (f *tracking) refreshCopies(e *entry, c copied, asked bool, by *cascade.Task, at ApplyPoint) error {
	held, filled := f.holds(e, c)
	if !held {
		return nil
	}
	ref := &f.all[c.ref]
	key, err := querydb.KeyByIdentifier(ref.Source, c.id)
	if err != nil {
		return err
	}
	existed := by != nil && by.Existed
	source, err := f.sources[c.ref].sourceRow(key, c.id, by, at)
	switch {
	case err != nil && err != errDeletedHere:
		return err
	case source == nil && (existed || !ref.NullIfMissing), source != nil && !ref.Cascade && !asked && filled:
		return nil
	}
	f.sources[c.ref].isFilledIn(key, c.id, at.Event)
	f.touchCopies(e, at)
	if f.nested { // the former state keeps its own
		e.row = f.of.codec.Clone(e.row)
	} else {
		e.row = f.of.codec.Copy(e.row)
	}
	f.fillIn(e.row, c, source)
	return nil
}

// touchCopies notes that copies in the entry change with the event, and the state before its first change. The row has
// not come to the event by that.
func (f *tracking) touchCopies(e *entry, at ApplyPoint) {
	if e.event == at.Event {
		return
	}
	f.of.journal = append(f.of.journal, undo{e, e.state})
	if e.event == 0 {
		e.time = at.Watermark
	}
	e.event = at.Event
	if !e.dirty {
		e.dirty = true
		f.of.dirty = append(f.of.dirty, e)
	}
}

// refreshHolders has the copies of a row follow it in the rows of the keys and in those that the window has changed,
// as far as the rule of the row goes; bySchema says that all do so by the schema. It reports in how many.
func (f *tracking) refreshHolders(
	c copied, held []keys.Key, bySchema bool, rule *followRule, at ApplyPoint,
) (n int, err error) {
	holders, known := make([]*entry, 0, len(held)), make(map[keys.Key]bool, len(held))
	for _, key := range held {
		known[key] = true
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
		if e.event != 0 && !known[e.key] {
			holders = append(holders, e)
		}
	}
	for _, e := range holders {
		held, _ := f.holds(e, c)
		asked := held && rule.asksNow(f.of.codec, e.row)
		if !held || !asked && !(rule.schema && bySchema) {
			continue
		}
		n++
		if err := f.refreshCopies(e, c, asked, nil, at); err != nil {
			return 0, err
		}
	}
	return n, nil
}
