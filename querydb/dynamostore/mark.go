package dynamostore

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// The mark of a table is an item of its own under a key that no row has, in no index. It says which fold the rows are
// of, and goes with the table.
const (
	markSort = "\x00" // the sort key of the item; its partition key is driver.MarkPK
	fewRows  = 25     // that HoldsRows looks at
)

// marks reads and writes the marks of tables.
type marks struct {
	client *client.Client
	tables *manager
	prefix string
}

func newMarks(c *client.Client, prefix string) *marks {
	return &marks{client: c, tables: newManager(c, prefix), prefix: prefix}
}

// SetMark implements driver.Identifier.
func (m *marks) SetMark(ctx context.Context, t *driver.Table, mark string) (string, error) {
	l := layout.Of(m.prefix, t)
	err := m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := m.client.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &l.Table, Key: l.Key(markKey(&l)),
			UpdateExpression: aws.String("SET #fold=:fold"), ConditionExpression: aws.String("attribute_not_exists(#fold)"),
			ExpressionAttributeNames: map[string]string{"#fold": layout.AttrMark}, ExpressionAttributeValues: item.Item{
				":fold": item.Text(mark),
			},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err == nil {
			m.client.Counters.Written(out.ConsumedCapacity)
		}
		return err
	})
	if _, marked := client.As[*types.ConditionalCheckFailedException](err); marked {
		return m.markOf(ctx, &l) // another's, or ours, where an answer was lost
	}
	if err != nil {
		return "", m.ofAnotherKey(ctx, &l, client.Wrap("mark", l.Table, err))
	}
	return mark, nil
}

func markKey(l *layout.Layout) keys.Key {
	if l.SK == "" {
		return keys.Key{PK: driver.MarkPK}
	}
	return keys.Key{PK: driver.MarkPK, SK: markSort}
}

// HoldsRows implements driver.Identifier. It is false where the credentials do not let it look.
func (m *marks) HoldsRows(ctx context.Context, t *driver.Table) (bool, error) {
	return m.folded(ctx, layout.Of(m.prefix, t).Table)
}

func (m *marks) folded(ctx context.Context, table string) (found bool, err error) {
	err = m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := m.client.API.Scan(ctx, &dynamodb.ScanInput{
			TableName: &table, Limit: aws.Int32(fewRows), ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			return err
		}
		for _, it := range out.Items {
			found = found || it[layout.AttrRev] != nil || it[layout.AttrOf] != nil // a row, or a claim of one
		}
		return nil
	})
	if _, missing := client.As[*types.ResourceNotFoundException](err); missing || denied(err) {
		return false, nil
	}
	if err != nil {
		return false, client.Wrap("look for rows in", table, err)
	}
	return found, nil
}
