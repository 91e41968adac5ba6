package write

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// onFailure is what a failed condition answers with: the item, where there is something to learn from it.
func (c *change) onFailure() types.ReturnValuesOnConditionCheckFailure {
	if c.read || c.asks() {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

func (c *change) updateInput() *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &c.table, Key: c.key, UpdateExpression: &c.update, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ReturnValuesOnConditionCheckFailure: c.onFailure(),
	}
}

func (c *change) deleteInput() *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{
		TableName: &c.table, Key: c.key, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: given(c.names), ExpressionAttributeValues: given(c.values),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ReturnValuesOnConditionCheckFailure: c.onFailure(),
	}
}

// action is the change as a part of a transaction.
func (c *change) action() types.TransactWriteItem {
	if c.check {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &c.table, Key: c.key, ConditionExpression: &c.condition,
			ExpressionAttributeNames: c.names, ExpressionAttributeValues: given(c.values),
		}}
	}
	if c.update == "" {
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &c.table, Key: c.key, ConditionExpression: optional(c.condition),
			ExpressionAttributeNames: given(c.names), ExpressionAttributeValues: given(c.values),
			ReturnValuesOnConditionCheckFailure: c.inTransaction(),
		}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &c.table, Key: c.key, UpdateExpression: &c.update, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: c.inTransaction(),
	}}
}

// inTransaction is onFailure in a transaction, which is known by its token, so that no change need know its own traces.
func (c *change) inTransaction() types.ReturnValuesOnConditionCheckFailure {
	if c.asks() {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return aws.String(s)
}

// given returns nil for an empty map, which DynamoDB refuses.
func given[M ~map[string]V, V any](m M) M {
	if len(m) == 0 {
		return nil
	}
	return m
}
