package drivertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// without is the batch with the delete of a partition.
func without(t *driver.Table, pk string, b driver.Batch) driver.Batch {
	b.Writes = append(b.Writes, driver.Write{
		Table: t, Kind: driver.DeletePartition, Row: driver.Row{Key: keys.Key{PK: pk}},
	})
	return b
}

// partitionDeleted: all rows of it go, with their entries and their ends, but those that the batch writes.
func partitionDeleted(s *store) {
	ending := holder("b", "y", "y")
	ending.Expires = epoch.Add(time.Hour)
	many := []driver.Row{holder("a", "x", "x"), ending}
	for i := range 600 {
		many = append(many, holder(fmt.Sprint("m", i), "", ""))
	}
	near := texts("p\x00", "a").row(s.table)
	s.put(append(many, near)...)
	kept, fresh := ending, holder("c", "x", "x")
	for range 2 {
		s.apply(without(s.table, "p", s.puts(kept, fresh)))
		s.wantHolders("with rows that the batch writes, one of them as it was", kept, fresh)
	}
	if sweeper, is := s.drv.(driver.Sweeper); is {
		n, err := sweeper.Sweep(s.Context(), s.table, epoch.Add(2*time.Hour), 10)
		if n != 1 || err != nil {
			s.Errorf("%d rows were removed when they had expired, %v; want the one that was written again", n, err)
		}
		s.wantHolders("after a sweep", fresh)
	}
	s.wantConflict(without(s.table, "p", s.puts(holder("d", "z", ""), holder("e", "z", ""))), "plain", "z")
	s.wantHolders("after a conflict", fresh)
	for range 2 {
		s.apply(without(s.table, "p", driver.Batch{}))
		s.wantHolders("without any")
	}
	if row := s.get(near.Key)[0]; row.Record == nil {
		s.Error("a row of another partition is gone, whose key begins alike")
	}
	s.apply(without(s.table, "none", driver.Batch{}))
}

// partitionOfKind: rows of other kinds stay.
func partitionOfKind(s *store) {
	cat, dog, bird := mixed.cat("p", "a", "x", "x"), mixed.dog("p", "b", "x", "x"), mixed.bird("p", "c", "x")
	s.write(slices.Concat(puts(mixed.cats, cat), puts(mixed.dogs, dog), puts(mixed.birds, bird))...)
	all := driver.Query{Table: mixed.cats, Index: driver.Primary, PK: "p", Limit: 9, Members: mixed.list()}
	byClass := driver.Query{Table: mixed.cats, Index: second, PK: "x", Limit: 9, Members: mixed.list()}
	for _, gone := range []struct {
		table *driver.Table
		left  []string
	}{{mixed.dogs, []string{"a", "c"}}, {mixed.birds, []string{"a"}}, {mixed.cats, nil}} {
		s.apply(without(gone.table, "p", driver.Batch{}))
		s.wantNames("without those of kind "+gone.table.Kind, s.query(all).Rows, gone.left...)
		s.wantNames("in the index, without those of kind "+gone.table.Kind, s.query(byClass).Rows, gone.left...)
	}
}
