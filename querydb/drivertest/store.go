package drivertest

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// tester is what a case needs of a test; rapid's tests have it too.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// store is the driver under test with a table to try it on.
type store struct {
	*testing.T
	drv   driver.Driver
	table *driver.Table
	opts  Options
	done  *report
}

// deviates reports whether the engine is known to deviate in a check, and then prints why.
func (s *store) deviates(check string) bool {
	s.Helper()
	reason, known := s.opts.Known[check]
	if known {
		s.Logf("not checked: %s: %s", check, reason)
		s.done.leftOut(check, reason)
	}
	return known
}

func (s *store) put(rows ...driver.Row) { s.Helper(); s.apply(s.puts(rows...)) }

func (s *store) puts(rows ...driver.Row) driver.Batch {
	var b driver.Batch
	for _, r := range rows {
		b.Writes = append(b.Writes, driver.Write{Table: s.table, Row: r})
	}
	return b
}

func (s *store) delete(ks ...keys.Key) {
	s.Helper()
	var b driver.Batch
	for _, k := range ks {
		b.Writes = append(b.Writes, driver.Write{Table: s.table, Kind: driver.Delete, Row: driver.Row{Key: k}})
	}
	s.apply(b)
}

func (s *store) apply(b driver.Batch) {
	s.Helper()
	if err := s.drv.Apply(s.Context(), b); err != nil {
		s.Fatalf("apply: %v", err)
	}
}

func (s *store) get(ks ...keys.Key) []driver.Row {
	s.Helper()
	return get(s, s.drv, driver.Get{Table: s.table, Keys: ks})
}

func get(t tester, drv driver.Driver, g driver.Get) []driver.Row {
	t.Helper()
	g.Consistent = true
	rows, err := drv.Get(t.Context(), g)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if len(rows) != len(g.Keys) {
		t.Fatalf("get of %d keys answers with %d rows", len(g.Keys), len(rows))
	}
	return rows
}

func (s *store) query(q driver.Query) driver.Page {
	s.Helper()
	if q.Table == nil {
		q.Table = s.table
	}
	return query(s, s.drv, q)
}

func query(t tester, drv driver.Driver, q driver.Query) driver.Page {
	t.Helper()
	q.Consistent = true
	page, err := drv.Query(t.Context(), q)
	if err != nil {
		t.Errorf("query %s: %v", describe(&q), err)
	}
	if len(page.Rows) > q.Limit || len(page.Starts) != len(page.Rows) || page.More && len(page.Rows) != q.Limit {
		t.Fatalf("a page of %d rows with limit %d, %d starts, more: %t", len(page.Rows), q.Limit, len(page.Starts), page.More)
	}
	return page
}

// walk reads page after page to the end. A page that begins where the one before it began would go on for ever.
func walk(t tester, drv driver.Driver, q driver.Query) (rows []driver.Row, starts []keys.Cursor) {
	t.Helper()
	for {
		if len(rows) > mostRows {
			t.Fatalf("a walk met %d rows and goes on: no case has so many", len(rows))
		}
		page := query(t, drv, q)
		rows = append(rows, page.Rows...)
		starts = append(starts, page.Starts...)
		if !page.More {
			return rows, starts
		}
		q.Start = &page.Starts[len(page.Starts)-1]
	}
}

// mostRows is more than any case has in one partition.
const mostRows = 2000

// all is a query of everything in a partition.
func (s *store) all(index int, pk string) driver.Query {
	return driver.Query{Table: s.table, Index: index, PK: pk, Limit: 1000}
}

// namesOf lists the sort keys of rows, short to compare.
func namesOf(rows []driver.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Key.SK
	}
	return out
}

// wantNames compares the sort keys of rows with those wanted.
func (s *store) wantNames(what string, rows []driver.Row, want ...string) {
	s.Helper()
	if got := namesOf(rows); !slices.Equal(got, want) {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}

// difference compares rows, index keys and positions of which a driver answers with; "" where they are equal. What a
// MultiWriter store knows beside is left out.
func difference(want, got []driver.Row) string {
	got = slices.Clone(got)
	for i := range got {
		if got[i].Applied, got[i].Revision = nil, 0; got[i].Record == nil {
			got[i] = driver.Row{Key: got[i].Key}
		}
	}
	return wholeDifference(want, got)
}

// wholeDifference compares all that there is of rows.
func wholeDifference(want, got []driver.Row) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
		cmp.Comparer(func(a, b record.Record) bool { return bytes.Equal(a, b) }),
		cmp.Comparer(func(a, b []driver.IndexKey) bool { return slices.Equal(a, b) }),
		cmp.Comparer(func(a, b []driver.Position) bool {
			return slices.Equal(slices.SortedFunc(slices.Values(a), byPartition), slices.SortedFunc(slices.Values(b),
				byPartition))
		}))
}

// odd are texts that a careless encoding of keys confuses, in byte order.
func (s *store) odd() []string {
	list := []string{
		"\x00", "\x00\x00", "\x00\x01", "\x00\u00ff", "\x01", "!", "#", "%00", "/", "A", "a", "a\x00", "a\x00\x00",
		"a\x00\x01", "a\x00b", "a\x01", "a!", "a#b", "a/", "aa", "a\u00ff", "a\U0010ffff", "b", "~current",
		"\u00e9", "\u4e16\u754c", "\ufffd", "\uffff", "\U0001f600", "\U0010ffff", "\U0010ffff\U0010ffff",
	}
	if s.opts.Bytes {
		list = append(list, "\x00\xff", "a\x00\xff", "a\xff", "a\xff\xff", "\x80", "\xc3", "\xff", "\xff\xff\xff",
			"\xff\xff\xff\xff")
		slices.Sort(list)
	}
	return list
}
