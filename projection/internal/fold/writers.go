package fold

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Where several projections write rows of a model that holds copies of others, or is copied, a group folds what all of
// them write: copies are made of whole rows, and an event sees the rows that earlier events have made. Each op is still
// one projection's, which sees of a row the key and its own fields, and writes nothing else. So it is evaluated on a
// view of the rows, which is that projection's part of them as the events before left it; what the event has made of
// the parts is laid over the whole rows when all of its ops are evaluated, as a store lays a part over a row.

// writtenOp is an op of one of several projections that write the rows.
type writtenOp struct {
	Op
	writer string
}

// By is the op of a projection, where several write the rows that it changes; elsewhere it is the op itself.
func By(projection string, op Op) Op {
	if op == nil || len(op.model().Writers) < 2 {
		return op
	}
	return &writtenOp{op, projection}
}

// views are those that each of several projections has of the rows of a model, in a Fold of what all of them write.
type views struct {
	of     *modelFold
	whole  *modelFold   // the rows that of is itself a view of; nil where it is none
	all    []*modelFold // in the order of the writers
	shape  *driver.Table
	broken error // why a part of a row cannot be read, which was read whole
}

// newWholeFold is the modelFold of the rows of a model with what all projections write of them.
func newWholeFold(codec querydb.AnyCodec, db *querydb.DB, b *bounds, readers int) *modelFold {
	f := newModelFold(codec, db, nil, b, readers)
	if len(codec.Model.Writers) < 2 {
		return f
	}
	f.views.shape = codec.Model.DriverTable(0)
	for i := range codec.Model.Writers {
		v := newModelFold(codec, db, &codec.Model.Writers[i], b, readers)
		v.db, v.refs.bound, v.views.whole, v.traits.unique = f.db, f.refs.bound, f, nil
		v.reset()
		f.views.all = append(f.views.all, v)
	}
	return f
}

// evaluator is the modelFold that an op is evaluated on, and the op itself: a view, where the op is that of a writer.
func (vs *views) evaluator(op Op) (*modelFold, change, error) {
	by, is := op.(*writtenOp)
	if !is {
		return vs.of, op.(change), nil
	}
	for _, v := range vs.all {
		if v.traits.writer == by.writer {
			return v, by.Op.(change), nil
		}
	}
	return nil, nil, fmt.Errorf("projection %s is none of those that write rows of %s: let one of them return the op",
		by.writer, vs.of.desc.Name)
}

// ofAll are the rows with what all projections write.
func (vs *views) ofAll() *modelFold {
	if vs.whole != nil {
		return vs.whole
	}
	return vs.of
}

// begin forgets what the last event has made of the parts.
func (vs *views) begin() {
	vs.broken = nil
	for _, v := range vs.all {
		if len(v.entries) > 0 {
			clear(v.entries)
			v.dirty = nil
		}
		v.begin()
	}
}

// part is the part of a row that the writer of a view sees.
func (vs *views) part(key keys.Key) *entry {
	f := vs.of
	e := f.entries[key]
	if e != nil {
		return e
	}
	e = &entry{key: key}
	f.entries[key] = e
	of := vs.whole.entry(key)
	e.asRead, e.read, e.pos = of.asRead, of.read || of.event != 0, of.pos
	if of.present {
		if err := f.decode(e, &of.stored); err != nil {
			vs.whole.views.broken = err
		}
	}
	return e
}

// entriesOf are the rows of a partition that was read whole.
func (vs *views) entriesOf(pk string) []*entry {
	if vs.whole == nil {
		return vs.of.partitions.all[pk].entries
	}
	var parts []*entry
	for _, e := range vs.whole.partitions.all[pk].entries {
		parts = append(parts, vs.part(e.key))
	}
	return parts
}

// deleted reports whether the event in hand deletes a row that is not visible, or writes it as expired. Where it has
// one writer, whether there was a row before does not matter: one that had expired may have been removed. Rows of
// several writers are never removed, and each may change or delete its own part of one that is not there, while the
// event that makes the row is yet to come.
func (vs *views) deleted(e *entry, at ApplyPoint) bool {
	switch f := vs.of; {
	case len(vs.all) == 0:
		return e.event == at.Event || slices.Contains(f.partitions.emptied, e.key.PK)
	case e.event != at.Event:
		return false
	default:
		_, there := f.before(e, at)
		return there || e.present && vs.setEnd(e.key, at)
	}
}

// setEnd reports whether the event in hand has changed the part of a row that says when the row ends.
func (vs *views) setEnd(key keys.Key, at ApplyPoint) bool {
	return slices.ContainsFunc(vs.all, func(v *modelFold) bool {
		part := v.entries[key]
		return v.traits.part.Expires && part != nil && part.event == at.Event
	})
}

// gather lays what the event in hand has made of the parts over the whole rows.
func (m *modelFold) gather(at ApplyPoint) error { return m.views.gather(at) }

func (vs *views) gather(at ApplyPoint) error {
	for _, v := range vs.all {
		for _, u := range v.journal {
			if err := vs.lay(v, u.entry, at); err != nil {
				return err
			}
		}
	}
	return vs.broken
}

// lay lays a part over its row.
func (vs *views) lay(v *modelFold, part *entry, at ApplyPoint) error {
	f := vs.of
	e := f.entry(part.key)
	before, err := vs.asStored(e, at)
	if err != nil {
		return err
	}
	w := driver.Write{Table: vs.shape, Kind: driver.Delete, Row: querydb.Row{Key: e.key}, Part: v.traits.part}
	if part.present {
		w.Kind = driver.Put
		if w.Row, err = f.codec.EncodeWithKey(&f.builder, part.row, e.key); err != nil {
			return err
		}
		if part.indexes != nil {
			w.Row.Indexes = part.indexes
		}
	}
	after := w.RowAfter(v.traits.writer, &before)
	if after.Record == nil {
		f.touch(e, at)
		e.clear()
		e.writers = nil
		return nil
	}
	row, err := f.codec.Decode(after.Record)
	if err != nil {
		return err
	}
	unfilled := f.refs.keepCopies(e, row, false, nil)
	for _, c := range part.unfilled { // of a part that is written anew
		if !slices.Contains(unfilled, c) {
			f.refs.fillIn(row, c, nil)
			unfilled = append(unfilled, c)
		}
	}
	f.touch(e, at)
	e.row, e.present, e.indexes, e.unfilled, e.writers = row, true, after.Indexes, unfilled, after.Writers
	return nil
}

// asStored is a row as it is before a part is laid over it: as it is stored, or, where the event in hand has changed it
// already, as it would be.
func (vs *views) asStored(e *entry, at ApplyPoint) (querydb.Row, error) {
	switch {
	case !e.present:
		return querydb.Row{Key: e.key}, nil
	case e.event != at.Event:
		return e.stored, nil
	}
	row, err := vs.of.codec.EncodeWithKey(&vs.of.builder, e.row, e.key)
	if err == nil && e.indexes != nil {
		row.Indexes = e.indexes
	}
	row.Writers = e.writers
	return row, err
}
