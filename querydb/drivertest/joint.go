package drivertest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Fields of dogs and of birds; cats have those of the table of rows.
const (
	dogOwner = iota
	dogName
	dogTime
	dogPlace
	dogNote
	dogRank
	dogClass

	birdClass = 2
)

// Indexes of a table that several models share.
const (
	first  = iota // of cats under their group, of dogs under place and time, and of no birds
	second        // of all under their class, and of cats and dogs by rank
)

// herd are the tables of models that share one.
type herd struct{ cats, dogs, birds *driver.Table }

var (
	mixed = newHerd("Mixed", 0, false)
	named = newHerd("Named", 0, true)
	anew  = newHerd("Named", 1, true)
)

// newHerd makes the tables; the key that cats and dogs have in the first index is theirs alone where it is unique.
func newHerd(name string, generation int, unique bool) herd {
	table := func(kind string, fieldNames ...string) *driver.Table {
		t := &driver.Table{
			Name: name, Generation: generation, Sorted: true, Kind: kind, PK: []int{0}, SK: []int{1},
			Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
			Indexes: []driver.Index{
				{Name: "first", AlwaysSorted: true, Keys: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
				{Name: "second", AlwaysSorted: true, Keys: driver.KeyNames{PK: "gsi2pk", SK: "gsi2sk"}},
			},
		}
		for i, field := range fieldNames {
			t.Fields = append(t.Fields, driver.Field{Name: field, Scalar: "String", Nullable: i > 1})
		}
		return t
	}
	in := func(t *driver.Table, index int, pk, sk, projected []int) {
		x := &t.Indexes[index]
		x.PK, x.SK, x.Projected = pk, sk, projected
		x.Unique = unique && index == first
	}
	var names []string
	for _, f := range rowsTable.Fields {
		names = append(names, f.Name)
	}
	h := herd{
		cats:  table("cat", names...),
		dogs:  table("dog", "owner", "name", "time", "place", "note", "rank", "class"),
		birds: table("bird", "pk", "sk", "class"),
	}
	in(h.cats, first, []int{fieldGroup}, nil, nil)
	in(h.cats, second, []int{fieldClass}, []int{fieldRank}, []int{fieldPK, fieldSK})
	in(h.dogs, first, []int{dogPlace}, []int{dogTime}, nil)
	in(h.dogs, second, []int{dogClass}, []int{dogRank}, []int{dogOwner, dogName, dogNote})
	in(h.birds, second, []int{birdClass}, nil, nil)
	h.birds.NoExpiry = true
	return h
}

func (h *herd) list() []*driver.Table { return []*driver.Table{h.cats, h.dogs, h.birds} }

// cat makes a row in the first index under group, and in the second under class; it is in none whose text is empty.
func (h *herd) cat(pk, sk, group, class string) driver.Row {
	f := fields{fieldPK: pk, fieldSK: sk, fieldText: "text of " + sk, fieldGroup: group, fieldClass: class, fieldRank: sk}
	return constant(f.row(h.cats), first, "cat "+sk)
}

// dog makes a row in the indexes under place and class.
func (h *herd) dog(pk, sk, place, class string) driver.Row {
	return fields{dogOwner: pk, dogName: sk, dogTime: sk, dogPlace: place, dogNote: "note of " + sk, dogRank: sk,
		dogClass: class}.row(h.dogs)
}

// bird makes a row in the second index.
func (h *herd) bird(pk, sk, class string) driver.Row {
	return constant(fields{0: pk, 1: sk, birdClass: class}.row(h.birds), second, sk)
}

// constant gives the row a sort half that no field is part of.
func constant(row driver.Row, index int, sk string) driver.Row {
	row.Indexes[index].SK, row.Indexes[index].HasSK = sk, true
	return row
}

// puts are the writes of rows of one table.
func puts(t *driver.Table, rows ...driver.Row) (list []driver.Write) {
	for _, row := range rows {
		list = append(list, driver.Write{Table: t, Row: row})
	}
	return list
}

// kindsApart has rows of three kinds mixed, in the table and in its indexes.
func kindsApart(s *store) {
	m := newModel(s.drv, mixed.list()...)
	var b driver.Batch
	const each = 7
	for i := range each {
		sk := func(kind string) string { return fmt.Sprintf("%03d %s", i, kind) }
		b.Writes = append(b.Writes, puts(mixed.cats, mixed.cat("p", sk("a"), "x", "x"))...)
		b.Writes = append(b.Writes, puts(mixed.birds, mixed.bird("p", sk("b"), "x"))...)
		if i < each-2 { // the last rows are of other kinds
			b.Writes = append(b.Writes, puts(mixed.dogs, mixed.dog("p", sk("c"), "x", "x"), mixed.dog("p", sk("d"), "", "x"))...)
		}
	}
	s.apply(b)
	m.apply(&b)
	m.reads(s)
	for _, t := range mixed.list() {
		page := s.query(driver.Query{Table: t, Index: driver.Primary, PK: "p", Limit: mostRows})
		if page.Examined != len(b.Writes) {
			s.Errorf("a query of each %s examines %d keys, and there are %d", t.Kind, page.Examined, len(b.Writes))
		}
	}
	b.Writes = nil
	for i := range each {
		row := mixed.cat("p", fmt.Sprintf("%03d a", i), "y", "")
		w := driver.Write{Table: mixed.cats, Row: row}
		if i%2 == 0 {
			w.Kind, w.Row = driver.Delete, driver.Row{Key: row.Key}
		}
		b.Writes = append(b.Writes, w)
	}
	s.apply(b)
	m.apply(&b)
	m.reads(s)
}

// reads compares answers about all that is in the partitions "p", "x" and "y", of each kind and of several.
func (m *model) reads(s *store) {
	s.Helper()
	for _, t := range m.tables {
		m.gets(s, s.drv, driver.Get{Table: t})
	}
	for _, members := range [][]*driver.Table{
		{mixed.cats}, {mixed.dogs}, {mixed.birds}, {mixed.cats, mixed.dogs}, {mixed.birds, mixed.dogs}, mixed.list(),
	} {
		for _, index := range []int{driver.Primary, first, second} {
			for _, pk := range []string{"p", "x", "y"} {
				for _, limit := range limits {
					q := driver.Query{Table: members[0], Index: index, PK: pk, Limit: limit, Members: members}
					m.walks(s, s.drv, q)
					if len(members) == 1 {
						q.Members = nil
						m.walks(s, s.drv, q)
					}
					q.Reverse, q.Range = true, keys.Range{Op: keys.RangeBetween, Lo: "001 b", Hi: "cat 003"}
					m.walks(s, s.drv, q)
				}
			}
		}
	}
}

func kindConflict(s *store) {
	cat := mixed.cat("p", "a", "x", "x")
	cat.Position = at(1)
	s.write(puts(mixed.cats, cat)...)
	cat.Kind = "cat"
	for _, pos := range []driver.Position{{}, at(2)} {
		dog := mixed.dog("p", "a", "x", "x")
		dog.Position = pos
		put := driver.Write{Table: mixed.dogs, Row: dog}
		remove := driver.Write{Table: mixed.dogs, Kind: driver.Delete, Row: driver.Row{Key: dog.Key, Position: pos}}
		for what, w := range map[string]driver.Write{"put": put, "delete": remove} {
			for _, atomic := range []bool{false, true} {
				s.refused(driver.Batch{Writes: []driver.Write{w}, Atomic: atomic}, driver.ErrConflict)
				got := get(s, s.drv, driver.Get{Table: mixed.cats, Keys: []keys.Key{cat.Key}})
				if diff := difference([]driver.Row{cat}, got); diff != "" {
					s.Errorf("after a %s of another kind: %s", what, diff)
				}
			}
		}
	}
	if got := get(s, s.drv, driver.Get{Table: mixed.dogs, Keys: []keys.Key{cat.Key}}); got[0].Record != nil {
		s.Errorf("there is a dog under the key of a cat")
	}
	s.write(driver.Write{Table: mixed.cats, Kind: driver.Delete, Row: driver.Row{Key: cat.Key}})
	s.write(puts(mixed.dogs, mixed.dog("p", "a", "x", "x"))...)
	if got := get(s, s.drv, driver.Get{Table: mixed.dogs, Keys: []keys.Key{cat.Key}}); got[0].Kind != "dog" {
		s.Errorf("under the key of a cat that is gone there is a row of kind %q, want a dog", got[0].Kind)
	}
}

// kindConflictOfSeveral has an event of several rows, one of which is of another kind: none of them is written.
func kindConflictOfSeveral(s *store) {
	s.write(puts(mixed.dogs, mixed.dog("p", "m", "x", "x"))...)
	var b driver.Batch
	var ks []keys.Key
	for _, sk := range []string{"a", "b", "m", "y", "z"} {
		cat := mixed.cat("p", sk, "x", "x")
		cat.Position = at(1)
		b.Writes, ks = append(b.Writes, puts(mixed.cats, cat)...), append(ks, cat.Key)
	}
	b.MultiRow = true
	if err := s.drv.Apply(s.Context(), b); !errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrPartial) {
		s.Errorf("apply: %v, want ErrConflict with nothing written", err)
	}
	for _, row := range get(s, s.drv, driver.Get{Table: mixed.cats, Keys: ks}) {
		if row.Record != nil || row.Revision > 0 {
			s.Errorf("the row %q was written", row.Key.SK)
		}
	}
	b.Writes = slices.Delete(b.Writes, 2, 3)
	s.apply(b)
}

// constantHalves has rows with and without the sort half that no field is part of.
func constantHalves(s *store) {
	here, there := mixed.cat("p", "1", "x", ""), mixed.cat("p", "2", "x", "")
	without := mixed.cat("p", "3", "x", "")
	without.Indexes[first] = indexKey("x", "")
	s.write(puts(mixed.cats, constant(here, first, "same"), constant(there, first, "same/more"), without)...)
	for want, r := range map[string]keys.Range{
		`["1" "2"]`: {}, `["1"]`: {Op: keys.RangeEqual, Lo: "same"}, `["2"]`: {Op: keys.RangeAtLeast, Lo: "same/"},
		`[]`: {Op: keys.RangeEqual, Lo: "sam"},
	} {
		page := s.query(driver.Query{Table: mixed.cats, Index: first, PK: "x", Range: r, Limit: 9})
		if got := fmt.Sprintf("%q", namesOf(page.Rows)); got != want {
			s.Errorf("range %d %q: %s, want %s", r.Op, r.Lo, got, want)
		}
		for i, start := range page.Starts {
			if sk := []string{"same", "same/more"}[page.Rows[i].Key.SK[0]-'1']; start.Index != (keys.Key{PK: "x", SK: sk}) {
				s.Errorf("row %q has the key %q in the index", page.Rows[i].Key.SK, start.Index)
			}
		}
	}
	without.Kind = "cat"
	got := get(s, s.drv, driver.Get{Table: mixed.cats, Keys: []keys.Key{without.Key}})
	if diff := difference([]driver.Row{without}, got); diff != "" {
		s.Errorf("the row without the half: %s", diff)
	}
}

// sweptByKind has rows of two kinds that expire, and sweeps one of them.
func sweptByKind(s *store) {
	cat, dog := mixed.cat("p", "a", "x", "x"), mixed.dog("p", "b", "x", "x")
	cat.Expires, dog.Expires = epoch.Add(2), epoch
	s.write(append(puts(mixed.cats, cat), puts(mixed.dogs, dog)...)...)
	both := driver.Query{Table: mixed.cats, Index: second, PK: "x", Limit: 9, Members: mixed.list()}
	cats := *s
	cats.table = mixed.cats
	if n := cats.sweep(epoch.Add(9), 1); n != 1 {
		s.Errorf("%d cats were removed, want 1", n)
	}
	s.wantNames("when cats are swept", s.query(both).Rows, "b")
	dogs := *s
	dogs.table = mixed.dogs
	if n := dogs.sweep(epoch.Add(9), 1); n != 1 {
		s.Errorf("%d dogs were removed, want 1", n)
	}
	s.wantNames("when dogs are swept", s.query(both).Rows)
}
