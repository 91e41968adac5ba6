package projection

import (
	"slices"

	"github.com/foldql/foldql/querydb"
)

// half is one half of one index.
type half struct {
	index  int
	sort   bool
	fields []int
}

// shape is what the fold asks of a model again and again.
type shape struct {
	isKey      []bool   // by field: part of the primary key
	halves     []half   // of all indexes
	halvesOf   [][]half // by field
	stampedKey bool     // the primary key holds a field that the engine fills
	sorted     bool     // partitions have several rows
}

func shapeOf(m *querydb.Model) shape {
	s := shape{
		isKey:      make([]bool, len(m.Fields)),
		halvesOf:   make([][]half, len(m.Fields)),
		stampedKey: stampedKey(m),
		sorted:     m.SK.Layout.Exists(),
	}
	for _, f := range slices.Concat(m.PK.Fields, m.SK.Fields) {
		s.isKey[f] = true
	}
	for i, x := range m.Indexes {
		s.add(half{i, false, x.PK.Fields})
		s.add(half{i, true, x.SK.Fields})
	}
	return s
}

func (s *shape) add(h half) {
	if len(h.fields) == 0 {
		return
	}
	s.halves = append(s.halves, h)
	for _, f := range h.fields {
		s.halvesOf[f] = append(s.halvesOf[f], h)
	}
}

// stampedKey reports whether the primary key holds a field that is filled from the time of the event.
func stampedKey(m *querydb.Model) bool {
	stamps := func(f int) bool { return f == m.CreatedAt || f == m.UpdatedAt }
	return slices.ContainsFunc(m.PK.Fields, stamps) || slices.ContainsFunc(m.SK.Fields, stamps)
}

// keptKeys are the keys that index halves keep while the row cannot compose them: partial writes leave some behind.
// Where the row can compose a half, that is the half's key and the kept one is of no account. Nil keeps none.
type keptKeys []querydb.IndexKey

// drop forgets halves. The receiver is the caller's own copy.
func (k *keptKeys) drop(halves []half) {
	for _, h := range halves {
		if *k != nil {
			k.set(h, querydb.IndexKey{})
		}
	}
}

// set keeps one half of x.
func (k *keptKeys) set(h half, x querydb.IndexKey) {
	kept := &(*k)[h.index]
	if h.sort {
		kept.SK, kept.HasSK = x.SK, x.HasSK
	} else {
		kept.PK, kept.HasPK = x.PK, x.HasPK
	}
}

// over fills the halves that the row could not compose.
func (k keptKeys) over(composed []querydb.IndexKey) {
	for i := range k {
		if x := &composed[i]; !x.HasPK && k[i].HasPK {
			x.PK, x.HasPK = k[i].PK, true
		}
		if x := &composed[i]; !x.HasSK && k[i].HasSK {
			x.SK, x.HasSK = k[i].SK, true
		}
	}
}

// keep remembers the keys that the row composes for the halves now, before a partial write takes a composite away.
func (f *fold[R]) keep(halves []half, row *R, kept *keptKeys) error {
	composed, err := querydb.Encode(f.codec, &f.builder, row)
	if err != nil {
		return err
	}
	for _, h := range halves {
		x := composed.Indexes[h.index]
		if h.sort && !x.HasSK || !h.sort && !x.HasPK {
			continue // the half keeps what it kept
		}
		if *kept == nil {
			*kept = make(keptKeys, len(f.model.Indexes))
		}
		kept.set(h, x)
	}
	return nil
}

// whole are those of the halves whose every composite the row has. Such a half has the key that the row composes, or none
// where that is empty; what it kept before is of no account any more.
func (f *fold[R]) whole(halves []half, row *R) []half {
	return slices.DeleteFunc(slices.Clone(halves), func(h half) bool {
		return slices.ContainsFunc(h.fields, func(field int) bool { return !f.codec.Value(row, field).Present() })
	})
}

// changed forgets the halves that a full write of the row changed: what it cannot compose now is not in the index.
func (f *fold[R]) changed(before, after *R, kept keptKeys) keptKeys {
	if kept == nil {
		return nil
	}
	kept = slices.Clone(kept)
	for _, h := range f.shape.halves {
		for _, field := range h.fields {
			if f.codec.Value(before, field) != f.codec.Value(after, field) {
				kept.drop([]half{h})
				break
			}
		}
	}
	return kept
}
