package querydb

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// keptAtOnce is how many rows are in memory before it is known whether they are kept, at most.
const keptAtOnce = 16

// completion makes whole rows of what a page of an index holds, and leaves out those that are not there any more.
type completion func(ctx context.Context, count counting, found *driver.Page) ([]Row, error)

// readKept reads a page of the rows that keep keeps, as if there were no others: the page is full where there are
// enough of them, Next follows the last one of it and is there only where one more follows, and what is counted and
// charged is those of the page. It reads a few rows at a time, because nothing else bounds what the others take of
// memory.
func (db *DB) readKept(
	ctx context.Context, t *table, dq driver.Query, ranges []keys.Range, complete completion, keep func(*Row) bool,
) (Page, error) {
	var page Page
	var last keys.Cursor
	var cost counters // of all rows, those of others among them
	count := func(*table) *counters { return &cost }
	defer func() { t.stats.kept(len(page.Rows), &cost) }()
	budget, limit := driver.BudgetOf(ctx), dq.Limit
	ctx, dq.Limit = driver.Uncharged(ctx), keptAtOnce
	for {
		found, err := db.readRanges(ctx, &cost, dq, ranges)
		if err != nil {
			return Page{}, err
		}
		rows, err := complete(ctx, count, &found)
		if err != nil {
			return Page{}, err
		}
		at := 0
		for i := range rows {
			for found.Rows[at].Key != rows[i].Key {
				at++
			}
			switch {
			case !keep(&rows[i]):
				continue
			case len(page.Rows) == limit:
				page.Next = &last
				return page, nil
			}
			if err := driver.Charge(budget, len(rows[i].Record)); err != nil {
				return Page{}, err
			}
			page.Rows, last = append(page.Rows, rows[i]), found.Starts[at]
		}
		if dq.Start = next(&found); dq.Start == nil {
			return page, nil
		}
	}
}

// counting says where the reads of a table are counted.
type counting func(*table) *counters

// counted is where reads are counted that tell nothing of rows of others.
func counted(t *table) *counters { return &t.stats }
