package page

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// readRanges reads one page of ranges that follow one another in the order of the keys, none overlapping another.
func (r Reader) readRanges(
	ctx context.Context, count *counter.Counters, q driver.Query, ranges []keys.Range,
) (all driver.Page, err error) {
	if len(ranges) == 1 {
		q.Range = ranges[0]
		return r.readPage(ctx, count, q)
	}
	limit := q.Limit
	for i := range ranges {
		q.Range = ranges[i]
		if q.Reverse {
			q.Range = ranges[len(ranges)-1-i]
		}
		if q.Start != nil && precedesStart(&q) {
			continue
		}
		left := limit - len(all.Rows)
		q.Limit = max(left, 1) // where the page is full, one row more says that there is a next one
		got, err := r.readPage(ctx, count, q)
		if err != nil {
			return driver.Page{}, err
		}
		all.Examined += got.Examined
		if left == 0 {
			all.More = len(got.Rows) > 0
		} else {
			all.Rows, all.Starts, all.More = append(all.Rows, got.Rows...), append(all.Starts, got.Starts...), got.More
		}
		if all.More {
			break
		}
	}
	return all, nil
}

// precedesStart reports whether the range lies before the start of the page, in the direction of the query.
func precedesStart(q *driver.Query) bool {
	sk := q.Start.Key.SK
	if q.Index != driver.Primary {
		sk = q.Start.Index.SK
	}
	lo, hi, bounded := q.Range.Bounds()
	if q.Reverse {
		return sk < lo
	}
	return bounded && sk >= hi
}
