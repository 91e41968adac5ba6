package verifier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// The history of a time series tells events of one time apart by where they stand in the log. Where that has several
// partitions, it is compared but for that: in the order of its keys.

// histories compares the rows of a partition of a history.
func (c *comparison) histories(m *querydb.Model, name string, want, got []querydb.Row) {
	exact := c.parted == 0
	if w, g := events(m, want, exact), events(m, got, exact); w != g {
		c.differ("%s: the history differs:\n  want %s\n  got  %s", name, w, g)
	}
}

// events are rows of a history in words, with their keys where they are to be exact.
func events(m *querydb.Model, rows []querydb.Row, exact bool) string {
	const origin = 2 // fields of the sort key that say where the event stands
	at := m.SK.Fields[len(m.SK.Fields)-origin:]
	var fields []int
	for i := range m.Fields {
		if !slices.Contains(at, i) {
			fields = append(fields, i)
		}
	}
	var b strings.Builder
	for _, row := range rows {
		if !exact {
			row.Key.SK = ""
		}
		fmt.Fprintf(&b, "%s until %d, ", show(m, fields, &row), row.Expires.Unix())
	}
	return b.String()
}

// plainEvents compares histories with what a plain fold makes of the events.
func (c *comparison) plainEvents(ctx context.Context, m *querydb.Model, all []PlainRow) error {
	want := map[string][]querydb.Row{} // by partition, and none of one that is gone
	for _, r := range all {
		pk := r.Row.Key.PK
		if want[pk] = append(want[pk], r.Row); r.Row.Record == nil {
			want[pk] = want[pk][:len(want[pk])-1]
		}
	}
	for pk, list := range want {
		slices.SortFunc(list, func(a, b querydb.Row) int { return compareKeys(a.Key, b.Key) })
		got, err := rows(ctx, c.got, m, driver.Primary, pk)
		if err != nil {
			return err
		}
		c.histories(m, m.Name+" by a plain fold", list, got)
	}
	return nil
}
