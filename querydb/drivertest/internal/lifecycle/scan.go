package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// scanned reads a table in pages of every size, with rows in other generations and tables beside it.
func scanned(s *harness.Store) {
	var want []keys.Key
	for i, text := range s.OddTexts() {
		pk := text + fmt.Sprint(i)
		rows := []driver.Row{fixture.NewRow(pk, text), fixture.Indexed(pk, text+"2", fixture.Sorted, "x", "1")}
		rows[1].Expires = fixture.Epoch.Add(-time.Hour)
		rows[1].Position = driver.Position{Partition: "p", Offset: uint64(i + 1), Step: uint32(i % 2)}
		s.Put(rows...)
		want = append(want, rows[0].Key, rows[1].Key)
	}
	s.Put(fixture.NewRow("gone", "x"))
	s.Delete(keys.Key{PK: "gone", SK: "x"})
	for _, other := range []*driver.Table{fixture.RowsNext, fixture.Other} {
		s.On(other).Put(fixture.NewRow("elsewhere", "x"))
	}
	all := scan(s, len(want)+1)
	if len(all) != len(want) {
		s.Errorf("%d rows were found, want %d", len(all), len(want))
	}
	for _, row := range all {
		if !slices.Contains(want, row.Key) {
			s.Errorf("row %q is none of the table's", row.Key)
		}
		if diff := cmp.Diff(s.Get(row.Key), []driver.Row{row}); diff != "" {
			s.Errorf("row %q is not as Get returns it: (-get +scan)\n%s", row.Key, diff)
		}
	}
	for most := 1; most < len(want); most++ {
		if diff := cmp.Diff(all, scan(s, most)); diff != "" {
			s.Fatalf("in pages of %d: (-at once +in pages)\n%s", most, diff)
		}
	}
}

// scan reads the table in pages of so many rows.
func scan(s *harness.Store, most int) (all []driver.Row) {
	s.Helper()
	var after *keys.Key
	for {
		rows, err := s.Driver.(driver.Scanner).Scan(s.Context(), s.Table, after, most)
		if err != nil || len(rows) > most {
			s.Fatalf("scan: %d rows, %v; want at most %d", len(rows), err, most)
		}
		if all = append(all, rows...); len(rows) < most {
			return all
		}
		after = &rows[len(rows)-1].Key
	}
}
