package page

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// errNotWhole is of items that are to be read once more, to see whether they stay as they are.
var errNotWhole = errors.New("the items make no whole object")

// wholeOfLent reads one object without its Items: nothing of them is needed once it is assembled, so they are in memory
// that the driver lends.
func wholeOfLent(
	ctx context.Context, from driver.Lender, count *counter.Counters, plan *aggregate.Plan, q driver.Query,
) (row driver.Row, err error) {
	began := time.Now()
	lent, err := from.Lend(ctx, q)
	if err != nil {
		count.Queried(&q, &driver.Page{}, err, time.Since(began))
		return driver.Row{}, err
	}
	defer lent.GiveBack()
	found := lent.Page()
	count.Queried(&q, found, nil, time.Since(began))
	row, err = plan.AssembleToRead(found.Rows)
	if err != nil || found.More {
		return driver.Row{}, errNotWhole
	}
	return owned(row, plan), nil
}

// owned is a row with nothing of the memory of its items. Its key is for the caller to set.
func owned(row driver.Row, plan *aggregate.Plan) driver.Row {
	if row.Record == nil {
		return driver.Row{}
	}
	row.Items, row.Kind = nil, plan.Tables[0].Kind
	row.Position.Partition = strings.Clone(row.Position.Partition)
	row.Indexes = slices.Clone(row.Indexes)
	for i := range row.Indexes {
		x := &row.Indexes[i]
		x.PK, x.SK = strings.Clone(x.PK), strings.Clone(x.SK)
	}
	return row
}
