package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Marks implements driver.Identifier: by a request for a hundred tables or, where one of those is not there or has
// another key, by one for each.
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
		if _, missing := client.As[*types.ResourceNotFoundException](err); !missing && !client.IsRefusedAsInvalid(err) {
			return nil, client.Wrap("read the mark of", tables[0].Table, err)
		}
	}
	return all, m.client.Each(ctx, len(tables), func(ctx context.Context, i int) (err error) {
		all[i], err = m.markOf(ctx, &tables[i])
		return err
	})
}

// batch reads the marks of tables that are all there and have these keys, by their names.
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
		answered := len(asked) - len(out.UnprocessedKeys) // each has one key; an answer names also those that wait
		if asked = out.UnprocessedKeys; len(asked) > 0 {
			return client.Unprocessed(answered)
		}
		return nil
	})
	return found, err
}

// markOf reads the mark of a table; "" also where the table is not there. The rows that serve may be of another model
// than this program has, earlier or later, and their table may have another key. DynamoDB refuses to look under the key
// of the layout then.
func (m *marks) markOf(ctx context.Context, l *layout.Layout) (string, error) {
	mark, err := m.markUnder(ctx, l)
	if client.IsRefusedAsInvalid(err) {
		has, known, asking := m.keyOf(ctx, l.Table)
		switch {
		case asking != nil:
			err = asking
		case !known:
			return "", nil // gone by now, or its keys are no texts: no fold writes to such a table
		case has.PK != l.PK || has.SK != l.SK:
			mark, err = m.markUnder(ctx, &has)
		}
	}
	if err != nil {
		return "", client.Wrap("read the mark of", l.Table, err)
	}
	return mark, nil
}

// markUnder reads the mark of a table that has the key of the layout.
func (m *marks) markUnder(ctx context.Context, l *layout.Layout) (mark string, err error) {
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
	return mark, err
}

// keyOf asks for the key that a table has; known is false where it is not there, or its keys are no texts.
func (m *marks) keyOf(ctx context.Context, table string) (l layout.Layout, known bool, err error) {
	d, err := m.tables.describeTable(ctx, table)
	if d == nil || err != nil {
		return l, false, err
	}
	l, known = keyLayout(d)
	return l, known, nil
}

// keyLayout is a layout with nothing but the key that a table has; ofTexts is false where that is of other types.
func keyLayout(d *types.TableDescription) (l layout.Layout, ofTexts bool) {
	l.Table = *d.TableName
	for _, k := range d.KeySchema {
		if typeOf(*k.AttributeName, d.AttributeDefinitions) != types.ScalarAttributeTypeS {
			return l, false
		}
		if k.KeyType == types.KeyTypeHash {
			l.PK = *k.AttributeName
		} else {
			l.SK = *k.AttributeName
		}
	}
	return l, true
}

// ofAnotherKey is the error of a write to a table, or says that the table has another key than the rows need.
func (m *marks) ofAnotherKey(ctx context.Context, l *layout.Layout, err error) error {
	if !client.IsRefusedAsInvalid(err) {
		return err
	}
	d, asking := m.tables.describeTable(ctx, l.Table)
	if asking != nil || d == nil || sameKey(l.PK, l.SK, d.KeySchema, d.AttributeDefinitions) {
		return err
	}
	return fmt.Errorf("dynamostore: mark %s: %w: %w", l.Table, driver.ErrTablesNotReady, wrongKey(l, d))
}
