package writes

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// without is the batch with the delete of a partition.
func without(t *driver.Table, pk string, b driver.Batch) driver.Batch {
	b.Writes = append(b.Writes, driver.Write{
		Table: t, Kind: driver.DeletePartition, Row: driver.Row{Key: keys.Key{PK: pk}},
	})
	return b
}

// partitionDeleted: all its rows go, with their index entries and expiries, except those that the batch writes.
func partitionDeleted(s *harness.Store) {
	ending := holder("b", "y", "y")
	ending.Expires = fixture.Epoch.Add(time.Hour)
	many := []driver.Row{holder("a", "x", "x"), ending}
	for i := range 600 {
		many = append(many, holder(fmt.Sprint("m", i), "", ""))
	}
	near := fixture.Texts("p\x00", "a").Row(s.Table)
	s.Put(append(many, near)...)
	kept, fresh := ending, holder("c", "x", "x")
	for range 2 {
		s.Apply(without(s.Table, "p", s.Puts(kept, fresh)))
		wantHolders(s, "with rows that the batch writes, one of them as it was", kept, fresh)
	}
	if sweeper, is := s.Driver.(driver.Sweeper); is {
		n, err := sweeper.Sweep(s.Context(), s.Table, fixture.Epoch.Add(2*time.Hour), 10)
		if n != 1 || err != nil {
			s.Errorf("%d rows were removed when they had expired, %v; want the one that was written again", n, err)
		}
		wantHolders(s, "after a sweep", fresh)
	}
	wantConflict(s, without(s.Table, "p", s.Puts(holder("d", "z", ""), holder("e", "z", ""))), "plain", "z")
	wantHolders(s, "after a conflict", fresh)
	for range 2 {
		s.Apply(without(s.Table, "p", driver.Batch{}))
		wantHolders(s, "without any")
	}
	if row := s.Get(near.Key)[0]; row.Record == nil {
		s.Error("a row of another partition is gone, whose key begins alike")
	}
	s.Apply(without(s.Table, "none", driver.Batch{}))
}
