package reference

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/record"
)

// CompareGet reads every row that the store has, and one that nobody has, from the driver.
func (s *Store) CompareGet(t harness.T, drv driver.Driver, g driver.Get) {
	t.Helper()
	g.Keys = []keys.Key{{PK: "nobody", SK: "nothing"}}
	for k, row := range s.rows {
		if row.Kind == g.Table.Kind || row.Record != nil {
			g.Keys = append(g.Keys, k)
		}
	}
	slices.SortFunc(g.Keys, func(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.SK, b.SK), cmp.Compare(a.PK, b.PK)) })
	want := make([]driver.Row, len(g.Keys))
	for i, k := range g.Keys {
		want[i].Key = k
		if row, there := s.rows[k]; there && row.Kind == g.Table.Kind && !row.Expired(g.Now) {
			want[i] = row.seenBy(g.Writer)
		}
	}
	if diff := s.difference(want, harness.Get(t, drv, g)); diff != "" {
		t.Fatalf("get: %s", diff)
	}
	if reader, is := drv.(driver.RecordReader); is {
		compareRecords(t, reader, g, want)
	}
}

// compareRecords reads the records of the rows that are wanted, into memory that holds others.
func compareRecords(t harness.T, drv driver.RecordReader, g driver.Get, want []driver.Row) {
	t.Helper()
	g.Consistent = true
	records := slices.Repeat([]record.Record{{}}, len(g.Keys))
	if err := drv.Records(t.Context(), g, records); err != nil {
		t.Fatalf("records: %v", err)
	}
	for i, rec := range records {
		if (rec == nil) != (want[i].Record == nil) || !slices.Equal(rec, want[i].Record) {
			t.Fatalf("records: under %q is %q, want %q", g.Keys[i], rec, want[i].Record)
		}
	}
}

// ComparePages compares all pages of a query that the driver answers with what the store selects. Ties may come in an
// order of the driver's own.
func (s *Store) ComparePages(t harness.T, drv driver.Driver, q driver.Query) {
	t.Helper()
	rows, starts := harness.Walk(t, drv, q)
	want := s.query(&q)
	if q.Reverse {
		slices.Reverse(rows)
		slices.Reverse(starts)
	}
	got := make([]entry, len(rows))
	for i, row := range rows {
		got[i] = entry{row, starts[i].Index}
		if q.Index == driver.Primary {
			got[i].at = row.Key
		}
		if i > 0 && got[i-1].at.SK > got[i].at.SK {
			t.Fatalf("%s: the sort key %q comes before %q", harness.Describe(&q), got[i-1].at.SK, got[i].at.SK)
		}
		if starts[i].Key != row.Key {
			t.Fatalf("%s: the start after the row %q names %q", harness.Describe(&q), row.Key, starts[i].Key)
		}
	}
	slices.SortFunc(got, compareEntries)
	same := slices.EqualFunc(want, got, func(a, b entry) bool {
		return a.at == b.at && a.row.Key == b.row.Key && a.row.Kind == b.row.Kind
	})
	if !same {
		t.Fatalf("%s: %d rows %v, want %d %v", harness.Describe(&q), len(got), names(got), len(want), names(want))
	}
	for i := range want {
		if q.Index != driver.Primary {
			harness.WantProjected(t, &s.tables[want[i].row.Kind].Indexes[q.Index], &want[i].row, &got[i].row)
		} else if diff := s.difference([]driver.Row{want[i].row}, []driver.Row{got[i].row}); diff != "" {
			t.Fatalf("%s: %s", harness.Describe(&q), diff)
		}
	}
}

// difference compares rows, with what a MultiWriter store knows of them.
func (s *Store) difference(want, got []driver.Row) string {
	if s.multiWriter {
		return harness.WholeDifference(want, got)
	}
	return harness.Difference(want, got)
}

func names(list []entry) (out []string) {
	for _, e := range list {
		out = append(out, fmt.Sprintf("%q:%s%q", e.at.SK, e.row.Kind, e.row.Key))
	}
	return out
}
