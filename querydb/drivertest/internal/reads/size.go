package reads

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// big is the size of a field that makes a row nearly as large as a row can be.
const big = 380 * 1024

func bigRow(sk string, size int) driver.Row {
	f := fixture.Texts("big", sk).In(fixture.Plain, "x", "").In(fixture.Half, "x", sk)
	f[fixture.Text], f[fixture.More] = strings.Repeat("t", size/2), strings.Repeat("m", size/2)
	return f.Row(fixture.Rows)
}

// bigRows has rows nearly as large as can be: they come back whole, and pages of them are full.
func bigRows(s *harness.Store) {
	var rows []driver.Row
	var ks []keys.Key
	var want []string
	for i := range 8 {
		row := bigRow(fmt.Sprint(i), big)
		s.Put(row)
		rows, ks, want = append(rows, row), append(ks, row.Key), append(want, row.Key.SK)
	}
	if diff := harness.Difference(rows, s.Get(ks...)); diff != "" {
		s.Errorf("get: the rows are not those that were put")
	}
	for _, q := range []driver.Query{s.All(driver.Primary, "big"), s.All(fixture.Half, "x")} {
		for _, limit := range []int{3, 8, 100} {
			q.Limit = limit
			page := s.Query(q)
			s.WantSortKeys("a page of big rows", page.Rows, want[:min(limit, len(want))]...)
			if page.More != (limit < len(want)) {
				s.Errorf("a page of %d of %d big rows says that there are more: %t", limit, len(want), page.More)
			}
		}
	}
}

// tooLarge has a row that a store may be unable to keep; then nothing of the batch is written.
func tooLarge(s *harness.Store) {
	small, large := fixture.NewRow("big", "small"), bigRow("too large", 410*1024)
	err := s.Driver.Apply(s.Context(), s.Puts(small, large))
	got := s.Get(small.Key, large.Key)
	if err == nil {
		if diff := harness.Difference([]driver.Row{small, large}, got); diff != "" {
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
func longKeys(s *harness.Store) {
	pk, sk := strings.Repeat("p", keys.MaxPK), strings.Repeat("s", keys.MaxSK)
	row := fixture.Texts(pk, sk).In(fixture.Plain, pk, "").In(fixture.Sorted, pk, sk).In(fixture.Half, pk, sk).Row(s.Table)
	wantWhole(s, row)
	wantInIndexes(s, row)
	q := s.All(fixture.Sorted, pk)
	q.Range = keys.Range{Op: keys.RangeBetween, Lo: sk, Hi: sk}
	page := s.Query(q)
	s.WantSortKeys("the range of one long key", page.Rows, sk)
	if len(page.Starts) == 1 {
		q.Start = &page.Starts[0]
		s.WantSortKeys("the page after it", s.Query(q).Rows)
	}
}
