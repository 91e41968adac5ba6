package page

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// filteredAtOnce is how many rows are in memory before it is known whether they are visible, at most.
const filteredAtOnce = 16

// readVisible reads a page of the visible rows, as if there were no others: the page is full where there are enough of
// them, Next follows the last one of it and is there only where one more follows, and what is counted and charged is
// those of the page. It reads a few rows at a time, because nothing else bounds what the others take of memory.
func (r Reader) readVisible(ctx context.Context, q *Query, ranges []keys.Range) (Page, error) {
	var page Page
	var cost counter.Counters // of all rows, invisible ones among them
	defer func() { q.Counters.Filtered(len(page.Rows), &cost) }()
	budget, dq := driver.BudgetOf(ctx), q.Query
	ctx, dq.Limit = driver.Uncharged(ctx), filteredAtOnce
	for {
		found, err := r.readRanges(ctx, &cost, dq, ranges)
		if err != nil {
			return Page{}, err
		}
		rows, starts, err := r.complete(ctx, q, &cost, &found)
		if err != nil {
			return Page{}, err
		}
		for i := range rows {
			switch {
			case !q.Visible(&rows[i]):
				continue
			case len(page.Rows) == q.Limit:
				page.Next = &page.Starts[len(page.Starts)-1]
				return page, nil
			}
			if err := driver.Charge(budget, len(rows[i].Record)); err != nil {
				return Page{}, err
			}
			page.Rows, page.Starts = append(page.Rows, rows[i]), append(page.Starts, starts[i])
		}
		if dq.Start = next(&found); dq.Start == nil {
			return page, nil
		}
	}
}
