package drivertest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// big is the size of a field that makes a row nearly as large as a row can be.
const big = 380 * 1024

func bigRow(sk string, size int) driver.Row {
	f := texts("big", sk).in(plain, "x", "").in(half, "x", sk)
	f[fieldText], f[fieldMore] = strings.Repeat("t", size/2), strings.Repeat("m", size/2)
	return f.row(rowsTable)
}

// bigRows has rows nearly as large as can be: they come back whole, and pages of them are full.
func bigRows(s *store) {
	var rows []driver.Row
	var ks []keys.Key
	var want []string
	for i := range 8 {
		row := bigRow(fmt.Sprint(i), big)
		s.put(row)
		rows, ks, want = append(rows, row), append(ks, row.Key), append(want, row.Key.SK)
	}
	if diff := difference(rows, s.get(ks...)); diff != "" {
		s.Errorf("get: the rows are not those that were put")
	}
	for _, q := range []driver.Query{s.all(driver.Primary, "big"), s.all(half, "x")} {
		for _, limit := range []int{3, 8, 100} {
			q.Limit = limit
			page := s.query(q)
			s.wantNames("a page of big rows", page.Rows, want[:min(limit, len(want))]...)
			if page.More != (limit < len(want)) {
				s.Errorf("a page of %d of %d big rows says that there are more: %t", limit, len(want), page.More)
			}
		}
	}
}

// tooLarge has a row that a store may be unable to keep; then nothing of the batch is written.
func tooLarge(s *store) {
	small, large := newRow("big", "small"), bigRow("too large", 410*1024)
	err := s.drv.Apply(s.Context(), s.puts(small, large))
	got := s.get(small.Key, large.Key)
	if err == nil {
		if diff := difference([]driver.Row{small, large}, got); diff != "" {
			s.Errorf("the batch was applied, and its rows are not there")
		}
		return
	}
	if !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), large.Key.SK) {
		s.Errorf("%v, want ErrTooLarge that names the row", err)
	}
	for _, row := range got {
		if row.Record != nil {
			s.Errorf("the row %q was written", row.Key)
		}
	}
}

// longKeys has keys as long as can be.
func longKeys(s *store) {
	pk, sk := strings.Repeat("p", keys.MaxPK), strings.Repeat("s", keys.MaxSK)
	row := texts(pk, sk).in(plain, pk, "").in(sorted, pk, sk).in(half, pk, sk).row(s.table)
	s.wantWhole(row)
	s.wantInIndexes(row)
	q := s.all(sorted, pk)
	q.Range = keys.Range{Op: keys.RangeBetween, Lo: sk, Hi: sk}
	page := s.query(q)
	s.wantNames("the range of one long key", page.Rows, sk)
	if len(page.Starts) == 1 {
		q.Start = &page.Starts[0]
		s.wantNames("the page after it", s.query(q).Rows)
	}
}
