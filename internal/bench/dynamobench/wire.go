package dynamobench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// call is a request that is ready to be made, by the SDK and nothing else.
type call func(ctx context.Context, c *dynamodb.Client) error

// wire is the body of any request that a store makes; the SDK's own types cannot be read from JSON.
type wire struct {
	TableName, IndexName                                          *string
	Key, ExclusiveStartKey, ExpressionAttributeValues             attributes
	ExpressionAttributeNames                                      map[string]string
	UpdateExpression, ConditionExpression, KeyConditionExpression *string
	ConsistentRead, ScanIndexForward                              *bool
	Limit                                                         *int32
	ReturnConsumedCapacity                                        types.ReturnConsumedCapacity
	ReturnValuesOnConditionCheckFailure                           types.ReturnValuesOnConditionCheckFailure
	ClientRequestToken                                            *string
	RequestItems                                                  map[string]wireKeys
	TransactItems                                                 []wireAction
}

type wireKeys struct {
	Keys           []attributes
	ConsistentRead *bool
}

type wireAction struct{ Update, Delete, ConditionCheck *wire }

// attributes are an item, or the values of an expression.
type attributes map[string]attribute

type attribute struct {
	S, N       *string
	BOOL, NULL *bool
	L          []attribute
	M          attributes
}

func (a attribute) value() types.AttributeValue {
	switch {
	case a.S != nil:
		return &types.AttributeValueMemberS{Value: *a.S}
	case a.N != nil:
		return &types.AttributeValueMemberN{Value: *a.N}
	case a.BOOL != nil:
		return &types.AttributeValueMemberBOOL{Value: *a.BOOL}
	case a.NULL != nil:
		return &types.AttributeValueMemberNULL{Value: *a.NULL}
	case a.M != nil:
		return &types.AttributeValueMemberM{Value: a.M.values()}
	}
	list := make([]types.AttributeValue, len(a.L))
	for i, e := range a.L {
		list[i] = e.value()
	}
	return &types.AttributeValueMemberL{Value: list}
}

func (a attributes) values() map[string]types.AttributeValue {
	if a == nil {
		return nil
	}
	m := make(map[string]types.AttributeValue, len(a))
	for name, v := range a {
		m[name] = v.value()
	}
	return m
}

// call makes the request again, for the SDK to send.
func (r recorded) call() (call, error) {
	var w wire
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields() // the same requests, and no simpler ones
	if err := d.Decode(&w); err != nil {
		return nil, fmt.Errorf("read a recorded %s: %w: %s", r.operation, err, r.body)
	}
	switch r.operation {
	case "UpdateItem":
		return w.update(), nil
	case "TransactWriteItems":
		return w.transaction(), nil
	case "GetItem":
		return w.get(), nil
	case "BatchGetItem":
		return w.batch(), nil
	case "Query":
		return w.query(), nil
	}
	return nil, fmt.Errorf("a %s was recorded, which a fold or a query is not known to make", r.operation)
}

func (w *wire) update() call {
	in := &dynamodb.UpdateItemInput{
		TableName: w.TableName, Key: w.Key.values(), UpdateExpression: w.UpdateExpression,
		ConditionExpression:      w.ConditionExpression,
		ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues.values(),
		ReturnConsumedCapacity:              w.ReturnConsumedCapacity,
		ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.UpdateItem(ctx, in)
		return err
	}
}

// transaction has no token: the SDK gives it one of its own, as a loop would that does not repeat it.
func (w *wire) transaction() call {
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: w.ReturnConsumedCapacity}
	for _, a := range w.TransactItems {
		in.TransactItems = append(in.TransactItems, a.action())
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.TransactWriteItems(ctx, in)
		return err
	}
}

func (a wireAction) action() types.TransactWriteItem {
	switch {
	case a.Update != nil:
		w := a.Update
		return types.TransactWriteItem{Update: &types.Update{
			TableName: w.TableName, Key: w.Key.values(), UpdateExpression: w.UpdateExpression,
			ConditionExpression:       w.ConditionExpression,
			ExpressionAttributeNames:  w.ExpressionAttributeNames,
			ExpressionAttributeValues: w.ExpressionAttributeValues.values(),
		}}
	case a.Delete != nil:
		w := a.Delete
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: w.TableName, Key: w.Key.values(), ConditionExpression: w.ConditionExpression,
			ExpressionAttributeNames:  w.ExpressionAttributeNames,
			ExpressionAttributeValues: w.ExpressionAttributeValues.values(),
		}}
	}
	w := a.ConditionCheck
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: w.TableName, Key: w.Key.values(), ConditionExpression: w.ConditionExpression,
		ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues.values(),
	}}
}

func (w *wire) get() call {
	in := &dynamodb.GetItemInput{
		TableName: w.TableName, Key: w.Key.values(), ConsistentRead: w.ConsistentRead,
		ReturnConsumedCapacity: w.ReturnConsumedCapacity,
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.GetItem(ctx, in)
		return err
	}
}

func (w *wire) batch() call {
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{},
		ReturnConsumedCapacity: w.ReturnConsumedCapacity}
	for table, asked := range w.RequestItems {
		list := make([]map[string]types.AttributeValue, len(asked.Keys))
		for i, k := range asked.Keys {
			list[i] = k.values()
		}
		in.RequestItems[table] = types.KeysAndAttributes{Keys: list, ConsistentRead: asked.ConsistentRead}
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.BatchGetItem(ctx, in)
		return err
	}
}

func (w *wire) query() call {
	in := &dynamodb.QueryInput{
		TableName: w.TableName, IndexName: w.IndexName, KeyConditionExpression: w.KeyConditionExpression,
		ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues.values(),
		ExclusiveStartKey: w.ExclusiveStartKey.values(), ConsistentRead: w.ConsistentRead,
		ScanIndexForward: w.ScanIndexForward,
		Limit:            w.Limit, ReturnConsumedCapacity: w.ReturnConsumedCapacity,
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.Query(ctx, in)
		return err
	}
}
