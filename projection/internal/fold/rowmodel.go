package fold

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
)

// rowModel is what the fold knows of a model and its rows beforehand.
type rowModel struct {
	codec  querydb.AnyCodec
	desc   *querydb.Model
	traits traits
}

func newRowModel(codec querydb.AnyCodec, w *querydb.Writer) *rowModel {
	return &rowModel{codec, codec.Model, traitsOf(codec.Model, w)}
}

// visible reports whether there is a row for the event: one that has expired is gone.
func (rm *rowModel) visible(e *entry, at ApplyPoint) bool {
	return e.present && rm.lasts(e.row, at)
}

// visibleIdentifier is the identifier of the row that there is for the event, "" where there is none.
func (rm *rowModel) visibleIdentifier(e *entry, at ApplyPoint) string {
	if !rm.visible(e, at) {
		return ""
	}
	return rm.codec.Value(e.row, rm.desc.Identifier()).AsString()
}

// lasts reports whether a row has not expired.
func (rm *rowModel) lasts(row any, at ApplyPoint) bool {
	if rm.desc.TTL < 0 {
		return true
	}
	expires := rm.codec.Time(row, rm.desc.TTL)
	return expires.IsZero() || expires.After(at.Watermark)
}

// stamped gives a row that an op brings the time of the event in its key, where the key holds such a field, and
// returns it with its key. The row must be the caller's own.
func (rm *rowModel) stamped(row any, key keys.Key, at ApplyPoint) (any, keys.Key, error) {
	if !rm.traits.stampedKey {
		return row, key, nil
	}
	for _, field := range [...]int{rm.desc.CreatedAt, rm.desc.UpdatedAt} {
		if field >= 0 {
			rm.codec.SetTime(row, field, at.Time)
		}
	}
	key, err := rm.codec.KeyOf(row)
	return row, key, err
}

// stamp gives the row that is to be written over an entry the times of its first and its last write. Keys of indexes
// may be made of them, and are judged after that.
func (rm *rowModel) stamp(e *entry, row any, exists bool, at ApplyPoint) {
	if c := rm.desc.CreatedAt; rm.traits.stamps[0] {
		created := at.Time
		if exists {
			created = rm.codec.Time(e.row, c)
		}
		rm.codec.SetTime(row, c, created)
	}
	if u := rm.desc.UpdatedAt; rm.traits.stamps[1] {
		rm.codec.SetTime(row, u, at.Time)
	}
}

// stamps reports whether the field is one that stamp fills.
func (rm *rowModel) stamps(field int) bool {
	return rm.traits.stamps[0] && field == rm.desc.CreatedAt || rm.traits.stamps[1] && field == rm.desc.UpdatedAt
}

func (rm *rowModel) sameKeyFields(a, b any) bool {
	for field, isKey := range rm.traits.isKey {
		if isKey && rm.codec.Value(a, field) != rm.codec.Value(b, field) {
			return false
		}
	}
	return true
}

// samePartition reports whether rows under the same partition key are of the same id, and not of two that differ in
// casing.
func (rm *rowModel) samePartition(a, b any) bool {
	return !rm.traits.collides || !slices.ContainsFunc(rm.desc.PK.Fields, func(field int) bool {
		return rm.codec.Value(a, field) != rm.codec.Value(b, field)
	})
}

// identical fails where another row than the one given is under the key of an entry: one whose key fields are others,
// and differ in casing alone. A row that has expired is no row.
func (rm *rowModel) identical(e *entry, row any, at ApplyPoint) error {
	if !rm.traits.collides {
		return nil
	}
	there := e.others
	switch {
	case rm.visible(e, at):
		there = e.row
	case e.present || !e.end.IsZero() && !e.end.After(at.Watermark):
		there = nil
	}
	if there == nil || rm.sameKeyFields(there, row) {
		return nil
	}
	return fmt.Errorf("%w: %s row %q is there already, of another id: %s",
		querydb.ErrConflict, rm.desc.Name, e.key, rm.difference(there, row))
}

// difference says in which fields of the key two rows under one key differ, and why that makes one key: by casing, or
// by a separator within a value that is not escaped.
func (rm *rowModel) difference(there, row any) string {
	for field, isKey := range rm.traits.isKey {
		a, b := rm.codec.Value(there, field).AsString(), rm.codec.Value(row, field).AsString()
		switch {
		case !isKey || a == b:
		case strings.EqualFold(a, b):
			return fmt.Sprintf("its %s is %q and that of the event is %q, which differ in casing alone, and the casing of "+
				"the key makes them one", rm.desc.Fields[field].Name, a, b)
		default:
			return fmt.Sprintf("its %s is %q and that of the event is %q, which are joined to one key, "+
				"because the key escapes no separator", rm.desc.Fields[field].Name, a, b)
		}
	}
	return "their keys are one"
}

// identified is identical for the row whose key fields fill sets. Ops that have no such function are taken at their
// word.
func (rm *rowModel) identified(e *entry, fill RowFunc, at ApplyPoint) error {
	if !rm.traits.collides || fill == nil {
		return nil
	}
	row := rm.codec.New()
	fill.call(row)
	return rm.identical(e, row, at)
}

// compose makes the items of an aggregate that are to be written, and gives the row the order in which it is read. The
// event in hand may turn those which were there before it into them, whatever else the commit has. In a survey the row
// may lack parts.
func (rm *rowModel) compose(e *entry, before []querydb.Row, b *bounds) error {
	if e.present && !b.surveying {
		encoded := e.stored.Record
		if err := rm.desc.Decompose(&e.stored); err != nil {
			return err
		}
		if !bytes.Equal(encoded, e.stored.Record) {
			row, err := rm.codec.Decode(e.stored.Record)
			if err != nil {
				return err
			}
			e.row = row
		}
	}
	e.changes = aggregate.SizeOfChanges(e.former, e.stored.Items)
	return rm.desc.ItemPlan().CheckSize(rm.desc.Name, before, e.stored.Items, b.aggregates)
}

// traits is what the fold asks of a model again and again.
type traits struct {
	isKey      []bool // by field: part of the primary key
	indexes    []index
	stampedKey bool // the primary key holds a field that the engine fills
	sorted     bool // partitions have several rows
	collides   bool // two keys may have the same text, up to casing for one
	// policy: a patch is judged by what it says alone, under the policy of each half. The rows of other models are
	// judged by all that they hold, and their halves are Whole.
	policy bool
	unique []uniqueIndex

	part   *driver.Part // of the rows, that the writer writes; nil where it is the only one
	writer string       // of several, under whose name the rows are written; "" for the only one
	sees   []int        // ordinals, ascending, of the fields that the writer sees of a row; nil for all
	stamps [2]bool      // whether CreatedAt and UpdatedAt are to be filled, where they are no part of the key
}

// index is an index as the fold writes its keys.
type index struct {
	slot     int // its place in Row.Indexes
	halves   []half
	together bool // see keys.PairUpdates
}

// uniqueIndex is where the keys are that no two rows have.
type uniqueIndex struct {
	slot   int
	sorted bool
}

// half is one half of an index that is the projection's to write.
type half struct {
	keys.IndexHalf
	sort   bool
	fields []int
	// filled says, aligned with fields, of which the row tells the value where a patch names others of the half: of those
	// that are never without one, and in a unique index of all, for what the row has there is to be its key.
	filled []bool
	unique bool
}

func traitsOf(m *querydb.Model, w *querydb.Writer) traits {
	s := traits{
		isKey:      make([]bool, len(m.Fields)),
		stampedKey: stampedKey(m),
		sorted:     m.SK.Layout.Exists() && m.Aggregate == nil,
		collides:   KeysCollide(m),
		policy:     m.Entity != nil,
	}
	keyFields := slices.Concat(m.PK.Fields, m.SK.Fields)
	for _, f := range keyFields {
		s.isKey[f] = true
	}
	own := func(f int) bool { return f >= 0 && !s.isKey[f] }
	if w != nil {
		s.writer, s.part = w.Name, &w.Part
		s.sees = slices.Concat(keyFields, w.Part.Fields)
		slices.Sort(s.sees)
		s.sees = slices.Compact(s.sees)
		own = func(f int) bool { return slices.Contains(w.Part.Fields, f) }
	}
	s.stamps = [2]bool{own(m.CreatedAt), own(m.UpdatedAt)}
	for i := range m.Indexes {
		s.indexes = append(s.indexes, indexOf(m, i, w))
		if m.Indexes[i].Unique {
			s.unique = append(s.unique, uniqueIndex{m.PhysicalIndex(i), m.Indexes[i].SK.Layout.Exists()})
		}
	}
	return s
}

func indexOf(m *querydb.Model, i int, w *querydb.Writer) index {
	x := index{slot: m.PhysicalIndex(i), together: m.PairsHalves()}
	part := driver.Part{PK: []int{x.slot}, SK: []int{x.slot}}
	if w != nil {
		part = w.Part
	}
	// A key of a unique index that is cut short would keep other rows out that have nothing but its beginning in
	// common with it.
	unique := m.Indexes[i].Unique
	add := func(h *querydb.Half, sort bool, slots []int) {
		if h.Layout.Exists() && slices.Contains(slots, x.slot) {
			filled := make([]bool, len(h.Fields))
			for i, f := range h.Fields {
				filled[i] = (unique || !m.Fields[f].Nullable) && (w == nil || slices.Contains(w.Part.Fields, f))
			}
			x.halves = append(x.halves, half{keys.IndexHalf{Layout: h.Layout, Policy: h.Policy,
				NeverTruncate: m.Entity == nil || unique}, sort, h.Fields, filled, unique})
		}
	}
	add(&m.Indexes[i].PK, false, part.PK)
	add(&m.Indexes[i].SK, true, part.SK)
	return x
}

// collides reports whether the layout may give the same text to different values.
func collides(l *keys.Layout) bool {
	return (l.Casing != keys.CasingNone || l.Escape == keys.EscapeNone && len(l.Segments) > 1) &&
		slices.ContainsFunc(l.Segments, func(s keys.Segment) bool { return s.Kind == keys.KindString })
}

// stampedKey reports whether the primary key holds a field that is filled from the time of the event.
func stampedKey(m *querydb.Model) bool {
	stamps := func(f int) bool { return f == m.CreatedAt || f == m.UpdatedAt }
	return slices.ContainsFunc(m.PK.Fields, stamps) || slices.ContainsFunc(m.SK.Fields, stamps)
}

// KeysCollide reports whether two keys of the model may have the same text.
func KeysCollide(m *querydb.Model) bool { return collides(&m.PK.Layout) || collides(&m.SK.Layout) }

// WriterOf finds the projection among those that write the model's rows; nil where there are not several.
func WriterOf(m *querydb.Model, projection string) *querydb.Writer {
	for i := range m.Writers {
		if m.Writers[i].Name == projection {
			return &m.Writers[i]
		}
	}
	return nil
}
