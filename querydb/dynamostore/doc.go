// Package dynamostore keeps rows in DynamoDB: a table for each model, a global secondary index for each of its indexes.
package dynamostore
