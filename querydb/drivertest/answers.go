package drivertest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// gets reads every row that the model has, and one that nobody has.
func (m *model) gets(t tester, drv driver.Driver, g driver.Get) {
	t.Helper()
	g.Keys = []keys.Key{{PK: "nobody", SK: "nothing"}}
	for k, row := range m.rows {
		if row.Kind == g.Table.Kind || row.Record != nil {
			g.Keys = append(g.Keys, k)
		}
	}
	slices.SortFunc(g.Keys, func(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.SK, b.SK), cmp.Compare(a.PK, b.PK)) })
	want := make([]driver.Row, len(g.Keys))
	for i, k := range g.Keys {
		want[i].Key = k
		if row, there := m.rows[k]; there && row.Kind == g.Table.Kind && !row.Expired(g.Now) {
			want[i] = row.seenBy(g.Writer)
		}
	}
	if diff := m.difference(want, get(t, drv, g)); diff != "" {
		t.Fatalf("get: %s", diff)
	}
}

// walks compares all pages of a query with what the model selects. Ties may come in an order of the driver's own.
func (m *model) walks(t tester, drv driver.Driver, q driver.Query) {
	t.Helper()
	rows, starts := walk(t, drv, q)
	want := m.query(&q)
	if q.Reverse {
		slices.Reverse(rows)
		slices.Reverse(starts)
	}
	got := make([]placed, len(rows))
	for i, row := range rows {
		got[i] = placed{row, starts[i].Index}
		if q.Index == driver.Primary {
			got[i].at = row.Key
		}
		if i > 0 && got[i-1].at.SK > got[i].at.SK {
			t.Fatalf("%s: the sort key %q comes before %q", describe(&q), got[i-1].at.SK, got[i].at.SK)
		}
		if starts[i].Key != row.Key {
			t.Fatalf("%s: the start after the row %q names %q", describe(&q), row.Key, starts[i].Key)
		}
	}
	slices.SortFunc(got, comparePlaced)
	same := slices.EqualFunc(want, got, func(a, b placed) bool {
		return a.at == b.at && a.row.Key == b.row.Key && a.row.Kind == b.row.Kind
	})
	if !same {
		t.Fatalf("%s: %d rows %v, want %d %v", describe(&q), len(got), placesOf(got), len(want), placesOf(want))
	}
	for i := range want {
		if q.Index != driver.Primary {
			wantProjected(t, &m.tables[want[i].row.Kind].Indexes[q.Index], &want[i].row, &got[i].row)
		} else if diff := m.difference([]driver.Row{want[i].row}, []driver.Row{got[i].row}); diff != "" {
			t.Fatalf("%s: %s", describe(&q), diff)
		}
	}
}

func describe(q *driver.Query) string {
	text := fmt.Sprintf("index %d, partition %q", q.Index, q.PK)
	for _, t := range q.Members {
		text += ", " + t.Kind
	}
	if q.Range.Op != keys.RangeAll {
		text += fmt.Sprintf(", range %d %q %q", q.Range.Op, q.Range.Lo, q.Range.Hi)
	}
	if q.Start != nil {
		text += fmt.Sprintf(", after %q", *q.Start)
	}
	return text + fmt.Sprintf(", reverse %t, limit %d", q.Reverse, q.Limit)
}

func placesOf(list []placed) (out []string) {
	for _, p := range list {
		out = append(out, fmt.Sprintf("%q:%s%q", p.at.SK, p.row.Kind, p.row.Key))
	}
	return out
}
