package fold

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

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

	writer string  // of several, under whose name the rows are written; "" for the only one
	sees   []int   // ordinals, ascending, of the fields that the writer sees of a row; nil for all
	stamps [2]bool // whether CreatedAt and UpdatedAt are to be filled, where they are no part of the key
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
}

func traitsOf(m *querydb.Model, w *querydb.Writer) traits {
	s := traits{
		isKey:      make([]bool, len(m.Fields)),
		stampedKey: stampedKey(m),
		sorted:     m.SK.Layout.Exists(),
		collides:   KeysCollide(m),
		policy:     m.Entity != nil,
	}
	keyFields := slices.Concat(m.PK.Fields, m.SK.Fields)
	for _, f := range keyFields {
		s.isKey[f] = true
	}
	own := func(f int) bool { return f >= 0 && !s.isKey[f] }
	if w != nil {
		s.writer = w.Name
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
	whole := m.Entity == nil || m.Indexes[i].Unique
	add := func(h *querydb.Half, sort bool, slots []int) {
		if h.Layout.Exists() && slices.Contains(slots, x.slot) {
			x.halves = append(x.halves, half{keys.IndexHalf{Layout: h.Layout, Policy: h.Policy, NeverTruncate: whole},
				sort, h.Fields})
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
