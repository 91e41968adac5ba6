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

func (tr *tracking) refresh(l cascade.Link, t *cascade.Task) Op {
	return &refreshOp{target{of: tr.of.desc, key: l.Key}, copied{tr.at(l.Field), l.Identifier}, t}
}

// refreshOp brings a copy up to date. It is no event's: the row keeps the position and the times of its last event.
type refreshOp struct {
	target
	copied
	task *cascade.Task
}

func (o *refreshOp) need(m *modelFold, _ ApplyPoint) error {
	source, err := querydb.KeyByIdentifier(m.refs.all[o.ref].Source, o.id)
	if err == nil {
		err = m.refs.sources[o.ref].needKey(source)
	}
	if err != nil {
		return err
	}
	return m.needKey(o.key)
}

func (o *refreshOp) eval(m *modelFold, at ApplyPoint) error {
	e := m.entry(o.key)
	if !e.present {
		return nil
	}
	filters, asked, schema := o.task.Filters(m.desc.Name)
	asked = asked || slices.ContainsFunc(filters, func(filter map[string]any) bool {
		return cascade.Matches(m.of.codec, e.row, filter)
	})
	if !asked && (!schema || !m.refs.all[o.ref].FollowsAfter()) {
		return nil
	}
	return m.refreshCopies(e, o.copied, asked, o.task, at)
}

// holds reports whether the row refers to the one of the copy, and whether it holds the copy in all places.
func (tr *tracking) holds(e *entry, c copied) (held, filled bool) {
	if !e.present {
		return false, false
	}
	ref := &tr.all[c.ref]
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
func (tr *tracking) refreshCopies(e *entry, c copied, asked bool, by *cascade.Task, at ApplyPoint) error {
	held, filled := tr.holds(e, c)
	if !held {
		return nil
	}
	ref := &tr.all[c.ref]
	key, err := querydb.KeyByIdentifier(ref.Source, c.id)
	if err != nil {
		return err
	}
	existed := by != nil && by.Existed
	source, err := tr.sources[c.ref].sourceRow(key, c.id, by, at)
	switch {
	case err != nil && err != errDeletedHere:
		return err
	case source == nil && (existed || !ref.NullIfMissing), source != nil && !ref.Cascade && !asked && filled:
		return nil
	}
	tr.sources[c.ref].isFilledIn(key, c.id, at.Event)
	tr.touchCopies(e, at)
	if tr.nested { // the former state keeps its own
		e.row = tr.of.codec.Clone(e.row)
	} else {
		e.row = tr.of.codec.Copy(e.row)
	}
	tr.fillIn(e.row, c, source)
	return nil
}

// touchCopies notes that copies in the entry change with the event, and the state before its first change. The row has
// not come to the event by that.
func (tr *tracking) touchCopies(e *entry, at ApplyPoint) {
	if e.event == at.Event {
		return
	}
	tr.of.journal = append(tr.of.journal, undo{e, e.state})
	if e.event == 0 {
		e.time = at.Watermark
	}
	e.event = at.Event
	if !e.dirty {
		e.dirty = true
		tr.of.dirty = append(tr.of.dirty, e)
	}
}

// refreshHolders has the copies of a row follow it in the rows of the keys and in those that the window has changed,
// as far as the rule of the row goes; bySchema says that all do so by the schema. It reports in how many.
func (tr *tracking) refreshHolders(
	c copied, held []keys.Key, bySchema bool, rule *followRule, at ApplyPoint,
) (n int, err error) {
	holders, known := make([]*entry, 0, len(held)), make(map[keys.Key]bool, len(held))
	for _, key := range held {
		known[key] = true
		e := tr.of.entry(key)
		if !e.read && e.event == 0 {
			if err := tr.of.missKey(key); err != nil {
				return 0, err
			}
			continue
		}
		holders = append(holders, e)
	}
	for _, e := range tr.of.dirty {
		if e.event != 0 && !known[e.key] {
			holders = append(holders, e)
		}
	}
	for _, e := range holders {
		held, _ := tr.holds(e, c)
		asked := held && rule.asksNow(tr.of.codec, e.row)
		if !held || !asked && !(rule.schema && bySchema) {
			continue
		}
		n++
		if err := tr.refreshCopies(e, c, asked, nil, at); err != nil {
			return 0, err
		}
	}
	return n, nil
}
