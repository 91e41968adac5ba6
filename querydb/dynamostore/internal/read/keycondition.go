package read

import (
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Placeholders of a key condition.
const (
	namePK, valuePK = "#pk", ":pk"
	nameSK          = "#sk"
	valueLo         = ":lo"
	valueHi         = ":hi"
	nameDeleted     = "#deleted"
)

// queryInput makes the first request of a query, without its limit. It is nil where no row can be selected, a question
// that DynamoDB refuses.
func queryInput(s *item.Codec, q *driver.Query) (*dynamodb.QueryInput, error) {
	if err := checkQueryTexts(q); err != nil {
		return nil, fmt.Errorf("dynamostore: query %s: %w", s.Layout.Table, err)
	}
	pk, sk := s.PK, s.SK
	in := &dynamodb.QueryInput{
		TableName: &s.Layout.Table, ScanIndexForward: aws.Bool(!q.Reverse),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if q.Index == driver.Primary {
		in.ConsistentRead = &q.Consistent
	} else {
		x := &s.Layout.Indexes[q.Index]
		pk, sk, in.IndexName = x.PK, x.SK, &x.Name
	}
	condition, operands, some := sortCondition(q.Range)
	start, more := start(s, q)
	if !some || !more {
		return nil, nil
	}
	in.ExclusiveStartKey = start
	in.ExpressionAttributeNames = map[string]string{namePK: pk}
	in.ExpressionAttributeValues = item.Item{valuePK: item.Text(q.PK)}
	expression := namePK + " = " + valuePK
	if condition != "" {
		expression += " AND " + condition
		in.ExpressionAttributeNames[nameSK] = sk
		for name, v := range operands {
			in.ExpressionAttributeValues[name] = v
		}
	}
	in.KeyConditionExpression = &expression
	if leavesOutDeleted(q) {
		in.ExpressionAttributeNames[nameDeleted] = layout.AttrDeleted
		in.FilterExpression = aws.String("attribute_not_exists(" + nameDeleted + ")")
	}
	return in, nil
}

// leavesOutDeleted reports whether DynamoDB is to send no deleted rows. It reads them all the same, and charges for it.
// No index has any; and a page that is to be whole must show when one of them has changed.
func leavesOutDeleted(q *driver.Query) bool {
	return q.Index == driver.Primary && !q.WithDeleted && !q.Snapshot
}

// checkQueryTexts refuses keys that no row can have.
func checkQueryTexts(q *driver.Query) error {
	for _, s := range [...]string{q.Range.Lo, q.Range.Hi} {
		if err := item.CheckTexts(keys.Key{PK: q.PK, SK: s}); err != nil {
			return err
		}
	}
	if q.Start != nil {
		for _, k := range [...]keys.Key{q.Start.Key, q.Start.Index} {
			if !utf8.ValidString(k.PK) || !utf8.ValidString(k.SK) {
				return fmt.Errorf("%w: the page begins after a key that is no UTF-8", driver.ErrInvalid)
			}
		}
	}
	return nil
}

// sortCondition makes the condition on the sort key; some is false where no sort key meets it. DynamoDB takes no empty
// operand, and no range whose ends are the wrong way round.
func sortCondition(r keys.Range) (condition string, operands item.Item, some bool) {
	lo, hi := item.Text(r.Lo), item.Text(r.Hi)
	switch {
	case r.Op == keys.RangeAll, r.Lo == "" && (r.Op == keys.RangePrefix || r.Op == keys.RangeAtLeast):
		return "", nil, true
	case r.Lo == "" && (r.Op == keys.RangeEqual || r.Op == keys.RangeAtMost), r.Op == keys.RangeBetween &&
		(r.Lo > r.Hi || r.Hi == ""):
		return "", nil, false
	case r.Op == keys.RangeEqual:
		return nameSK + " = " + valueLo, item.Item{valueLo: lo}, true
	case r.Op == keys.RangePrefix:
		return "begins_with(" + nameSK + ", " + valueLo + ")", item.Item{valueLo: lo}, true
	case r.Op == keys.RangeAtLeast:
		return nameSK + " >= " + valueLo, item.Item{valueLo: lo}, true
	case r.Op == keys.RangeAtMost:
		return nameSK + " <= " + valueLo, item.Item{valueLo: lo}, true
	case r.Lo == "":
		return nameSK + " <= " + valueHi, item.Item{valueHi: hi}, true
	}
	return nameSK + " BETWEEN " + valueLo + " AND " + valueHi, item.Item{valueLo: lo, valueHi: hi}, true
}

// start returns the key that the page begins after, nil where it begins with the range; more is false where the whole
// range lies before the page. DynamoDB needs no row under that key, but refuses one outside of the range.
func start(s *item.Codec, q *driver.Query) (after item.Item, more bool) {
	if q.Start == nil {
		return nil, true
	}
	sk := q.Start.Key.SK
	if q.Index != driver.Primary {
		sk = q.Start.Index.SK
	}
	lo, hi, bounded := q.Range.Bounds()
	switch {
	case ended(q, sk):
		return nil, false
	case sk < lo:
		return nil, !q.Reverse
	case bounded && sk >= hi:
		return nil, q.Reverse
	}
	after = s.Key(q.Start.Key)
	if q.Index != driver.Primary {
		x := &s.Layout.Indexes[q.Index]
		after[x.PK] = item.Text(q.PK)
		if x.SK != "" {
			after[x.SK] = item.Text(sk)
		}
	}
	return after, true
}

// ended reports whether no row can come after the sort key: it is the last that the range may hold, and on the table
// itself there is but one row under it. DynamoDB need not be asked, and DynamoDB Local refuses to be.
func ended(q *driver.Query, sk string) bool {
	if q.Index != driver.Primary {
		return false
	}
	lo, hi, bounded := q.Range.Bounds()
	if q.Reverse {
		return sk <= lo
	}
	return bounded && sk+"\x00" >= hi
}

// startAfter returns where the page after a row of the query begins.
func startAfter(s *item.Codec, q *driver.Query, k keys.Key, it item.Item) keys.Cursor {
	start := keys.Cursor{Key: k}
	if q.Index != driver.Primary {
		start.Index.PK = q.PK
		if sk := s.Layout.Indexes[q.Index].SK; sk != "" {
			start.Index.SK, _ = item.StringOf(it[sk])
		}
	}
	return start
}
