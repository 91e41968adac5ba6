package dynamostore

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
)

// getInput reads one row.
func (s *shape) getInput(k keys.Key, consistent bool) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{
		TableName: &s.layout.table, Key: s.key(k), ConsistentRead: &consistent,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// batchInput reads up to mostKeys rows, distinct ones.
func (s *shape) batchInput(ks []keys.Key, consistent bool) *dynamodb.BatchGetItemInput {
	list := make([]map[string]value, len(ks))
	for i, k := range ks {
		list[i] = s.key(k)
	}
	return &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{s.layout.table: {Keys: list, ConsistentRead: &consistent}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}
