package dynamostore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// The mark of a table is an item of its own under a key that no row has, in no index. It says which fold the rows are
// of, and goes with the table.
const (
	attrMark = "_fold" // S: the mark
	markSort = "\x00"  // the sort key of the item; its partition key is driver.MarkPK
	fewRows  = 25      // that HoldsRows looks at
)

// Mark implements driver.Identifier.
func (s *Store) Mark(ctx context.Context, t *driver.Table) (string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	l := layoutOf(s.cfg.Prefix, t)
	return s.markOf(ctx, &l)
}

// markOf reads the mark of a table that has such a key; "" also where the table is not there.
func (s *Store) markOf(ctx context.Context, l *layout) (mark string, err error) {
	err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &l.table, Key: l.key(markKey(l)), ConsistentRead: aws.Bool(true),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err == nil {
			consumed(&s.stats.readUnits, out.ConsumedCapacity)
			mark, _ = stringOf(out.Item[attrMark])
		}
		return err
	})
	if _, missing := as[*types.ResourceNotFoundException](err); missing {
		return "", nil
	}
	if err != nil {
		return "", mapped("read the mark of", l.table, err)
	}
	return mark, nil
}

// SetMark implements driver.Identifier.
func (s *Store) SetMark(ctx context.Context, t *driver.Table, mark string) (string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	l := layoutOf(s.cfg.Prefix, t)
	err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &l.table, Key: l.key(markKey(&l)),
			UpdateExpression: aws.String("SET #fold=:fold"), ConditionExpression: aws.String("attribute_not_exists(#fold)"),
			ExpressionAttributeNames: map[string]string{"#fold": attrMark}, ExpressionAttributeValues: item{":fold": text(mark)},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err == nil {
			consumed(&s.stats.writeUnits, out.ConsumedCapacity)
		}
		return err
	})
	if _, marked := as[*types.ConditionalCheckFailedException](err); marked {
		return s.markOf(ctx, &l) // another's, or ours, where an answer was lost
	}
	if err != nil {
		return "", mapped("mark", l.table, err)
	}
	return mark, nil
}

func markKey(l *layout) keys.Key {
	if l.sk == "" {
		return keys.Key{PK: driver.MarkPK}
	}
	return keys.Key{PK: driver.MarkPK, SK: markSort}
}

// HoldsRows implements driver.Identifier. It is false where the credentials do not let it look.
func (s *Store) HoldsRows(ctx context.Context, t *driver.Table) (bool, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return s.folded(ctx, layoutOf(s.cfg.Prefix, t).table)
}

func (s *Store) folded(ctx context.Context, table string) (found bool, err error) {
	err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := s.client.Scan(ctx, &dynamodb.ScanInput{
			TableName: &table, Limit: aws.Int32(fewRows), ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			return err
		}
		for _, it := range out.Items {
			found = found || it[attrRev] != nil
		}
		return nil
	})
	if _, missing := as[*types.ResourceNotFoundException](err); missing || denied(err) {
		return false, nil
	}
	if err != nil {
		return false, mapped("look for rows in", table, err)
	}
	return found, nil
}

// FoldedTables names those that are there of the tables, in any generation, and that a fold has written to. Only the
// Name of a table counts.
func (s *Store) FoldedTables(ctx context.Context, tables []*driver.Table) (list []string, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	names, err := s.generationsOf(ctx, tables)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		d, err := s.describe(ctx, name)
		if err != nil {
			return nil, mapped("describe", name, err)
		}
		if d == nil || d.TableStatus == types.TableStatusDeleting || d.TableStatus == types.TableStatusCreating {
			continue
		}
		written, err := s.written(ctx, d)
		if err != nil {
			return nil, err
		}
		if written {
			list = append(list, name)
		}
	}
	return list, nil
}

// written reports whether a fold has written to a table, whose key may be of another shape by now.
func (s *Store) written(ctx context.Context, d *live) (bool, error) {
	l := layout{table: *d.TableName}
	for _, k := range d.KeySchema {
		if typeOf(*k.AttributeName, d.AttributeDefinitions) != types.ScalarAttributeTypeS {
			return false, nil
		}
		if k.KeyType == types.KeyTypeHash {
			l.pk = *k.AttributeName
		} else {
			l.sk = *k.AttributeName
		}
	}
	mark, err := s.markOf(ctx, &l)
	if err != nil || mark != "" {
		return mark != "", err
	}
	return s.folded(ctx, l.table)
}

// generationsOf names the tables that are there, by their names alone.
func (s *Store) generationsOf(ctx context.Context, tables []*driver.Table) (names []string, err error) {
	in := &dynamodb.ListTablesInput{}
	for {
		var out *dynamodb.ListTablesOutput
		err := s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) (err error) {
			out, err = s.client.ListTables(ctx, in)
			return err
		})
		if err != nil {
			return nil, mapped("list tables that begin with", s.cfg.Prefix, err)
		}
		for _, name := range out.TableNames {
			if isGeneration(name, s.cfg.Prefix, tables) {
				names = append(names, name)
			}
		}
		if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			return names, nil
		}
	}
}

func isGeneration(name, prefix string, tables []*driver.Table) bool {
	rest, ours := strings.CutPrefix(name, prefix)
	if !ours {
		return false
	}
	for _, t := range tables {
		number, is := strings.CutPrefix(rest, t.Name)
		digits, numbered := strings.CutPrefix(number, ".g")
		if is && (number == "" || numbered && digits != "" && strings.Trim(digits, "0123456789") == "") {
			return true
		}
	}
	return false
}

// denied reports whether the credentials do not allow the request.
func denied(err error) bool {
	var api interface{ ErrorCode() string }
	return errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
}
