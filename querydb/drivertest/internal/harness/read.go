package harness

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// PageSizes are the limits that walks are tried with.
var PageSizes = []int{1, 2, 7, 1000}

// MostRows is more than any case has in one partition.
const MostRows = 2000

// T is what reads need of a test; rapid's tests have it too.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Get reads rows, consistently, and wants an answer that is aligned with the keys.
func Get(t T, drv driver.Driver, g driver.Get) []driver.Row {
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

// Query reads a page, consistently, and wants one that is as full as it has to be.
func Query(t T, drv driver.Driver, q driver.Query) driver.Page {
	t.Helper()
	q.Consistent = true
	page, err := drv.Query(t.Context(), q)
	if err != nil {
		t.Errorf("query %s: %v", Describe(&q), err)
	}
	if len(page.Rows) > q.Limit || len(page.Starts) != len(page.Rows) || page.More && len(page.Rows) != q.Limit {
		t.Fatalf("a page of %d rows with limit %d, %d starts, more: %t", len(page.Rows), q.Limit, len(page.Starts), page.More)
	}
	return page
}

// Walk reads page after page to the end. A page that begins where the one before it began would go on for ever.
func Walk(t T, drv driver.Driver, q driver.Query) (rows []driver.Row, starts []keys.Cursor) {
	t.Helper()
	for {
		if len(rows) > MostRows {
			t.Fatalf("a walk has read %d rows and goes on: no case has so many", len(rows))
		}
		page := Query(t, drv, q)
		rows = append(rows, page.Rows...)
		starts = append(starts, page.Starts...)
		if !page.More {
			return rows, starts
		}
		q.Start = &page.Starts[len(page.Starts)-1]
	}
}

// Describe is the query in words, for messages.
func Describe(q *driver.Query) string {
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
