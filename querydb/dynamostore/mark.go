package dynamostore

import (
	"context"
	"slices"
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

// Marks implements driver.Identifier: by a request for a hundred tables or, where one of those is not there, by one for
// each.
func (m *marks) Marks(ctx context.Context, tables []*driver.Table) ([]string, error) {
	all := make([]string, 0, len(tables))
	for some := range slices.Chunk(tables, item.MostKeys) {
		layouts := make([]layout.Layout, len(some))
		for i, t := range some {
			layouts[i] = layout.Of(m.prefix, t)
		}
		found, err := m.marksOf(ctx, layouts)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (m *marks) marksOf(ctx context.Context, tables []layout.Layout) ([]string, error) {
	all := make([]string, len(tables))
	if len(tables) > 1 {
		found, err := m.batch(ctx, tables)
		if err == nil {
			for i := range tables {
				all[i] = found[tables[i].Table]
			}
			return all, nil
		}
		if _, missing := client.As[*types.ResourceNotFoundException](err); !missing {
			return nil, client.Wrap("read the mark of", tables[0].Table, err)
		}
	}
	return all, m.client.Each(ctx, len(tables), func(ctx context.Context, i int) (err error) {
		all[i], err = m.markOf(ctx, &tables[i])
		return err
	})
}

// batch reads the marks of tables that are all there, by their names.
func (m *marks) batch(ctx context.Context, tables []layout.Layout) (map[string]string, error) {
	asked, found := map[string]types.KeysAndAttributes{}, map[string]string{}
	for i := range tables {
		l := &tables[i]
		asked[l.Table] = types.KeysAndAttributes{
			Keys: []map[string]types.AttributeValue{l.Key(markKey(l))}, ConsistentRead: aws.Bool(true),
		}
	}
	err := m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := m.client.API.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: asked, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			m.client.Counters.Read(&out.ConsumedCapacity[i])
		}
		for table, items := range out.Responses {
			for _, it := range items {
				found[table], _ = item.StringOf(it[layout.AttrMark])
			}
		}
		if asked = out.UnprocessedKeys; len(asked) > 0 {
			return client.ErrUnprocessed
		}
		return nil
	})
	return found, err
}

// markOf reads the mark of a table that has such a key; "" also where the table is not there.
func (m *marks) markOf(ctx context.Context, l *layout.Layout) (mark string, err error) {
	err = m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := m.client.API.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &l.Table, Key: l.Key(markKey(l)), ConsistentRead: aws.Bool(true),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err == nil {
			m.client.Counters.Read(out.ConsumedCapacity)
			mark, _ = item.StringOf(out.Item[layout.AttrMark])
		}
		return err
	})
	if _, missing := client.As[*types.ResourceNotFoundException](err); missing {
		return "", nil
	}
	if err != nil {
		return "", client.Wrap("read the mark of", l.Table, err)
	}
	return mark, nil
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
		return "", client.Wrap("mark", l.Table, err)
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
