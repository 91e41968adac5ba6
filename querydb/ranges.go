package querydb

import (
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// readRanges reads one page of ranges that follow one another in the order of the keys, none overlapping another.
func (db *DB) readRanges(
	ctx context.Context, count *counters, dq driver.Query, ranges []keys.Range,
) (all driver.Page, err error) {
	if len(ranges) == 1 {
		dq.Range = ranges[0]
		return db.readPage(ctx, count, dq)
	}
	limit := dq.Limit
	for i := range ranges {
		dq.Range = ranges[i]
		if dq.Reverse {
			dq.Range = ranges[len(ranges)-1-i]
		}
		if dq.Start != nil && passed(&dq) {
			continue
		}
		left := limit - len(all.Rows)
		dq.Limit = max(left, 1) // where the page is full, one row more says that there is a next one
		got, err := db.readPage(ctx, count, dq)
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

// passed reports whether the range lies before the start of the page, in the direction of the query.
func passed(dq *driver.Query) bool {
	sk := dq.Start.Key.SK
	if dq.Index != driver.Primary {
		sk = dq.Start.Index.SK
	}
	lo, hi, bounded := dq.Range.Bounds()
	if dq.Reverse {
		return sk < lo
	}
	return bounded && sk >= hi
}
