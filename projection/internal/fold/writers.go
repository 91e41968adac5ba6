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

// writers are the views of those that write the rows of a model, in a Fold of what all of them write.
type writers[R any] struct {
	whole *modelFold[R]   // the rows that this is a view of; nil where it is none
	views []*modelFold[R] // in the order of the writers
	shape *driver.Table
	// broken is why a row cannot be seen, which has been read whole.
	broken error
}

// newWholeFold is the modelFold of rows that several projections write, with what all of them write.
func newWholeFold[R any](codec *querydb.Codec[R], db *querydb.DB, b *bounds, readers int) *modelFold[R] {
	f := newModelFold(codec, db, nil, b, readers)
	if len(codec.Model.Writers) < 2 {
		return f
	}
	f.writers.shape = codec.Model.DriverTable(0)
	for i := range codec.Model.Writers {
		v := newModelFold(codec, db, &codec.Model.Writers[i], b, readers)
		v.db, v.writers.whole, v.traits.unique = f.db, f, nil
		v.reset()
		f.views = append(f.views, v)
	}
	return f
}

// evaluator is the modelFold that an op is evaluated on, and the op itself: a view, where the op is that of a writer.
func (f *modelFold[R]) evaluator(op Op) (*modelFold[R], change[R], error) {
	by, is := op.(*writtenOp)
	if !is {
		return f, op.(change[R]), nil
	}
	for _, v := range f.views {
		if v.traits.writer == by.writer {
			return v, by.Op.(change[R]), nil
		}
	}
	return nil, nil, fmt.Errorf("projection %s is none of those that write rows of %s: let one of them return the op",
		by.writer, f.desc.Name)
}

// ofAll are the rows with what all projections write.
func (f *modelFold[R]) ofAll() *modelFold[R] {
	if f.whole != nil {
		return f.whole
	}
	return f
}

// bind finds the models that the copies are of, for the views too.
func (f *modelFold[R]) bind(members []member) {
	f.references.bind(members)
	for _, v := range f.views {
		v.refs.sources, v.refs.nested = f.refs.sources, f.refs.nested
	}
}

// beginViews forgets what the last event has made of the parts.
func (f *modelFold[R]) beginViews() {
	for _, v := range f.views {
		if len(v.entries) > 0 {
			clear(v.entries)
			v.dirty = nil
		}
		v.begin()
		v.broken = nil
	}
}

// partOf is the part of a row that the writer of a view sees.
func (f *rows[R]) partOf(key keys.Key) *entry[R] {
	e := f.entries[key]
	if e != nil {
		return e
	}
	e = &entry[R]{key: key}
	f.entries[key] = e
	of := f.whole.entry(key)
	e.asRead, e.read, e.pos = of.asRead, of.read || of.event != 0, of.pos
	if of.present {
		if err := f.decode(e, &of.stored); err != nil {
			f.whole.broken = err
		}
	}
	return e
}

// entriesOf are the rows of a partition that was read whole.
func (f *modelFold[R]) entriesOf(pk string) []*entry[R] {
	if f.whole == nil {
		return f.partitions.all[pk].entries
	}
	var parts []*entry[R]
	for _, e := range f.whole.partitions.all[pk].entries {
		parts = append(parts, f.partOf(e.key))
	}
	return parts
}

// gather lays what the event in hand has made of the parts over the whole rows.
func (f *modelFold[R]) gather(at ApplyPoint) error {
	if f.broken != nil {
		return f.broken
	}
	for _, v := range f.views {
		for _, u := range v.journal {
			if err := f.lay(v, u.entry, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// lay lays a part over its row.
func (f *modelFold[R]) lay(v *modelFold[R], part *entry[R], at ApplyPoint) error {
	e := f.entry(part.key)
	before, err := f.asStored(e, at)
	if err != nil {
		return err
	}
	w := driver.Write{Table: f.shape, Kind: driver.Delete, Row: querydb.Row{Key: e.key}, Part: v.traits.part}
	if part.present {
		w.Kind = driver.Put
		if w.Row, err = querydb.EncodeWithKey(f.codec, &f.builder, &part.row, e.key); err != nil {
			return err
		}
		if part.indexes != nil {
			w.Row.Indexes = part.indexes
		}
	}
	after := w.RowAfter(v.traits.writer, &before)
	if after.Record == nil {
		f.remove(e, at)
		e.writers = nil
		return nil
	}
	var row R
	if err := f.codec.Decode(after.Record, &row); err != nil {
		return err
	}
	unfilled := f.refs.keepCopies(e, &row, false)
	for _, c := range part.unfilled {
		if !slices.Contains(unfilled, c) {
			f.refs.fillIn(&row, c, nil)
			unfilled = append(unfilled, c)
		}
	}
	f.touch(e, at)
	e.row, e.present, e.indexes, e.unfilled, e.writers = row, true, after.Indexes, unfilled, after.Writers
	return nil
}

// asStored is a row as it is before another part is laid over it: as it is stored, or, where the event in hand has
// changed it already, as it would be.
func (f *modelFold[R]) asStored(e *entry[R], at ApplyPoint) (querydb.Row, error) {
	if e.event != at.Event || !e.present {
		row := e.stored
		if !e.present {
			row = querydb.Row{Key: e.key}
		}
		return row, nil
	}
	row, err := querydb.EncodeWithKey(f.codec, &f.builder, &e.row, e.key)
	if err == nil && e.indexes != nil {
		row.Indexes = e.indexes
	}
	row.Writers = e.writers
	return row, err
}
