package lifecycle

import (
	"fmt"
	"math"
	"slices"
	"time"

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
	all := scan(s, driver.Scan{Limit: len(want) + 1, Bytes: math.MaxInt})
	if len(all) != len(want) {
		s.Errorf("%d rows were found, want %d", len(all), len(want))
	}
	for _, row := range all {
		if !slices.Contains(want, row.Key) {
			s.Errorf("row %q is none of the table's", row.Key)
		}
		if diff := harness.WholeDifference(s.Get(row.Key), []driver.Row{row}); diff != "" {
			s.Errorf("row %q is not as Get returns it: (-get +scan)\n%s", row.Key, diff)
		}
	}
	for limit := 1; limit < len(want); limit++ {
		for _, page := range []driver.Scan{{Limit: limit, Bytes: math.MaxInt}, {Limit: len(want), Bytes: 20 * limit}} {
			if diff := harness.WholeDifference(all, scan(s, page)); diff != "" {
				s.Fatalf("in pages of %d rows and %d bytes: (-at once +in pages)\n%s", page.Limit, page.Bytes, diff)
			}
		}
	}
}

// scan reads the table in pages, none of which is larger than it may be.
func scan(s *harness.Store, page driver.Scan) (all []driver.Row) {
	s.Helper()
	for page.Table = s.Table; ; {
		rows, more, err := s.Driver.(driver.Scanner).Scan(s.Context(), page)
		if err != nil || len(rows) > page.Limit || more && len(rows) == 0 {
			s.Fatalf("scan: %d rows, more %t, %v; want at most %d", len(rows), more, err, page.Limit)
		}
		bytes := 0
		for i := range rows {
			if bytes >= page.Bytes {
				s.Fatalf("scan: %d rows, and the first %d have %d bytes already", len(rows), i, bytes)
			}
			bytes += len(rows[i].Record)
		}
		if all = append(all, rows...); !more {
			return all
		}
		page.After = &rows[len(rows)-1].Key
	}
}
