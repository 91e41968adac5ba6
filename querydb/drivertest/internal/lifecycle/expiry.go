package lifecycle

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

func expiry(s *harness.Store) {
	now := time.Date(2024, 1, 15, 10, 30, 0, 123456789, time.UTC)
	until := []time.Time{{}, now.Add(-time.Hour), now.Add(-time.Nanosecond), now, now.Add(time.Nanosecond),
		now.Add(time.Hour)}
	there := []string{"0", "4", "5"}
	var ks []keys.Key
	for i, t := range until {
		row := fixture.Indexed("p", fmt.Sprint(i), fixture.Sorted, "x", fmt.Sprint(i))
		row.Expires = t
		s.Put(row)
		ks = append(ks, row.Key)
	}
	for i, row := range harness.Get(s, s.Driver, driver.Get{Table: s.Table, Keys: ks, Now: now}) {
		want := until[i].IsZero() || until[i].After(now)
		if (row.Record != nil) != want || want && !row.Expires.Equal(until[i]) || row.Key != ks[i] {
			s.Errorf("row %d (there: %t) expires at %v", i, row.Record != nil, row.Expires)
		}
		one := harness.Get(s, s.Driver, driver.Get{Table: s.Table, Keys: ks[i : i+1], Now: now})
		if (one[0].Record != nil) != want {
			s.Errorf("row %d alone (there: %t)", i, one[0].Record != nil)
		}
	}
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
		s.WantSortKeys("at the zero time", s.Query(q).Rows, "0", "1", "2", "3", "4", "5")
		q.Now = now
		s.WantSortKeys("whole", s.Query(q).Rows, there...)
		q.Limit = 1
		rows, _ := harness.Walk(s, s.Driver, q)
		s.WantSortKeys("in pages", rows, there...)
		q.Limit = len(there)
		if page := s.Query(q); page.More {
			s.Errorf("a full page of all rows says that there are more")
		}
		q.Limit, q.Range = 1, keys.Range{Op: keys.RangeAtMost, Lo: "3"}
		if page := s.Query(q); page.More || len(page.Rows) != 1 {
			s.Errorf("a page before expired rows has %d rows, more: %t; want 1 and no more", len(page.Rows), page.More)
		}
	}
}
