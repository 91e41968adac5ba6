package page

import (
	"context"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// readComplete reads pages of an index and the whole rows from the table, one batch for each page, until it is full. A
// row that is gone meanwhile, or no longer under the key by which it was found, makes room for the next.
func (r Reader) readComplete(ctx context.Context, q *Query, ranges []keys.Range) (Page, error) {
	var page Page
	dq := q.Query
	for {
		dq.Limit = q.Limit - len(page.Rows)
		found, err := r.readRanges(ctx, q.Counters, dq, ranges)
		if err != nil {
			return Page{}, err
		}
		rows, starts, err := r.complete(ctx, q, nil, &found)
		if err != nil {
			return Page{}, err
		}
		page.add(rows, starts)
		page.Next = next(&found)
		if len(page.Rows) == q.Limit || page.Next == nil {
			return page, nil
		}
		dq.Start = page.Next
	}
}

// complete reads the whole rows of a page of an index and leaves out those that are no longer where they were found;
// starts says where a page after each of the others begins. It counts the reads where the query says, unless another
// place is given.
func (r Reader) complete(
	ctx context.Context, q *Query, count *counter.Counters, found *driver.Page,
) (rows []driver.Row, starts []keys.Cursor, err error) {
	switch {
	case !q.Incomplete:
		return found.Rows, found.Starts, nil
	case len(q.Members) > 0:
		return r.completeMembers(ctx, q, count, found)
	case len(found.Rows) == 0:
		return nil, nil, nil
	case count == nil:
		count = q.Counters
	}
	ks := make([]keys.Key, len(found.Rows))
	for i := range found.Rows {
		ks[i] = found.Rows[i].Key
	}
	whole, err := r.byKeys(ctx, count, q, ks)
	if err == nil && q.Aggregate == nil {
		err = r.again(ctx, count, q, q.Table, ks, whole, func(i int) bool {
			return hasIndexKey(&whole[i], &q.Query, found.Starts[i].Index)
		})
	}
	if err != nil {
		return nil, nil, err
	}
	rows, starts = whole[:0], make([]keys.Cursor, 0, len(whole)) // found.Starts says where the next page begins
	for i := range whole {
		if at := found.Starts[i]; whole[i].Record != nil && hasIndexKey(&whole[i], &q.Query, at.Index) {
			rows, starts = append(rows, whole[i]), append(starts, at)
		}
	}
	return rows, starts, nil
}

// byKeys reads whole rows by their keys.
func (r Reader) byKeys(ctx context.Context, count *counter.Counters, q *Query, ks []keys.Key) ([]driver.Row, error) {
	if q.Aggregate != nil {
		get := q.whole(q.Table, ks)
		return r.Whole(ctx, count, q.Aggregate,
			driver.Query{Table: get.Table, Consistent: get.Consistent, Now: get.Now}, ks)
	}
	return r.getDistinct(ctx, count, q.whole(q.Table, ks))
}

// whole asks for whole rows.
func (q *Query) whole(t *driver.Table, ks []keys.Key) driver.Get {
	return driver.Get{Table: t, Keys: ks, Consistent: q.Consistent || q.Current, Now: q.Now}
}

// again reads those rows once more that are not where the index has them, where they may have been remembered: as one
// was then it may have had another key, or not have been there, and would be on no page.
func (r Reader) again(ctx context.Context, count *counter.Counters, q *Query, t *driver.Table, ks []keys.Key,
	rows []driver.Row, there func(i int) bool) error {
	get := q.whole(t, nil)
	if m, is := r.Driver.(driver.Remembering); !is || !m.Remembers() || get.Consistent {
		return nil
	}
	var places []int
	for i := range rows {
		if !there(i) {
			places, get.Keys = append(places, i), append(get.Keys, ks[i])
		}
	}
	if len(places) == 0 {
		return nil
	}
	get.NoCache = true
	now, err := r.getDistinct(ctx, count, get)
	if err != nil {
		return err
	}
	for i, at := range places {
		rows[at] = now[i]
	}
	return nil
}

// completeMembers is complete for a page of rows of several kinds: one batch for each kind whose entries are partial.
func (r Reader) completeMembers(
	ctx context.Context, q *Query, count *counter.Counters, found *driver.Page,
) (current []driver.Row, starts []keys.Cursor, err error) {
	rows := slices.Clone(found.Rows)
	for i, t := range q.Members {
		if t.Indexes[q.Index].Projected == nil {
			continue
		}
		var places []int
		var ks []keys.Key
		for at := range rows {
			if rows[at].Kind == t.Kind {
				places, ks = append(places, at), append(ks, rows[at].Key)
			}
		}
		if len(ks) == 0 {
			continue
		}
		to := count
		if to == nil {
			to = q.MemberCounters[i]
		}
		got, err := r.getDistinct(ctx, to, q.whole(t, ks))
		if err == nil {
			err = r.again(ctx, to, q, t, ks, got, func(n int) bool {
				return hasIndexKey(&got[n], &q.Query, found.Starts[places[n]].Index)
			})
		}
		if err != nil {
			return nil, nil, err
		}
		for n, at := range places {
			if rows[at].Record = nil; hasIndexKey(&got[n], &q.Query, found.Starts[at].Index) {
				rows[at].Record = got[n].Record
			}
		}
	}
	for i := range rows {
		if rows[i].Record != nil {
			current, starts = append(current, rows[i]), append(starts, found.Starts[i])
		}
	}
	return current, starts, nil
}

// hasIndexKey reports whether the row, as the table has it, has the key in the index by which it was found.
func hasIndexKey(row *driver.Row, q *driver.Query, found keys.Key) bool {
	if q.Index >= len(row.Indexes) {
		return false
	}
	x := &row.Indexes[q.Index]
	if !x.HasPK || x.PK != found.PK {
		return false
	}
	return !q.Table.Indexes[q.Index].Sorted() || x.HasSK && x.SK == found.SK
}
