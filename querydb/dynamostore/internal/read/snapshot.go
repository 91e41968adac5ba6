package read

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// mostReadings is how often rows are read to find them twice the same.
const mostReadings = 10

// settled reads until two readings in a row meet the same items at the same revisions, deleted ones too, and returns
// the second.
//
// DynamoDB reads several items one after the other, also consistently: of a transaction that happens meanwhile an
// answer may show a part. But revisions only grow: an item that is at the same one in both readings has not changed
// between them, so that both are what there was at the moment when the first had ended and the second had not begun.
func settled[T any](ctx context.Context, read func(context.Context) (T, string, error)) (answer T, err error) {
	var none T
	before := ""
	ctx, again := driver.ChargedOnce(ctx)
	for n := range mostReadings {
		again()
		answer, revisions, err := read(ctx)
		if err != nil {
			return none, err
		}
		if n > 0 && revisions == before {
			return answer, nil
		}
		before = revisions
		if n > 0 {
			select {
			case <-time.After(time.Duration(n) * 5 * time.Millisecond):
			case <-ctx.Done():
				return none, ctx.Err()
			}
		}
	}
	return none, fmt.Errorf("dynamostore: %w: rows that are to be read as of one moment change faster than they can "+
		"be read twice",
		driver.ErrThrottled)
}

// revisionOf tells an item from what it was before and will be; "?" is that of one that another program has written.
func revisionOf(it item.Item) string {
	rev, _ := it[layout.AttrRev].(*types.AttributeValueMemberN)
	if rev == nil {
		return "?"
	}
	return rev.Value
}
