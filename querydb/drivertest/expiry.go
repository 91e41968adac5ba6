package drivertest

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

func expiry(s *store) {
	now := time.Date(2024, 1, 15, 10, 30, 0, 123456789, time.UTC)
	until := []time.Time{{}, now.Add(-time.Hour), now.Add(-time.Nanosecond), now, now.Add(time.Nanosecond),
		now.Add(time.Hour)}
	there := []string{"0", "4", "5"}
	var ks []keys.Key
	for i, t := range until {
		row := indexed("p", fmt.Sprint(i), sorted, "x", fmt.Sprint(i))
		row.Expires = t
		s.put(row)
		ks = append(ks, row.Key)
	}
	for i, row := range get(s, s.drv, driver.Get{Table: s.table, Keys: ks, Now: now}) {
		want := until[i].IsZero() || until[i].After(now)
		if (row.Record != nil) != want || want && !row.Expires.Equal(until[i]) || row.Key != ks[i] {
			s.Errorf("row %d (there: %t) expires at %v", i, row.Record != nil, row.Expires)
		}
		one := get(s, s.drv, driver.Get{Table: s.table, Keys: ks[i : i+1], Now: now})
		if (one[0].Record != nil) != want {
			s.Errorf("row %d alone (there: %t)", i, one[0].Record != nil)
		}
	}
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
		s.wantNames("at the zero time", s.query(q).Rows, "0", "1", "2", "3", "4", "5")
		q.Now = now
		s.wantNames("whole", s.query(q).Rows, there...)
		q.Limit = 1
		rows, _ := walk(s, s.drv, q)
		s.wantNames("in pages", rows, there...)
		q.Limit = len(there)
		if page := s.query(q); page.More {
			s.Errorf("a full page of all rows says that there are more")
		}
		q.Limit, q.Range = 1, keys.Range{Op: keys.RangeAtMost, Lo: "3"}
		if page := s.query(q); page.More || len(page.Rows) != 1 {
			s.Errorf("a page before expired rows has %d rows, more: %t; want 1 and no more", len(page.Rows), page.More)
		}
	}
}
