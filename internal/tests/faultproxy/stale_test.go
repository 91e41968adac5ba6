package faultproxy

import (
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// TestAnIndexFollowsItsTableLater: an index shows each row as it was some time ago, under the key that it had, and the
// table itself shows it as it is. After the longest time both agree.
func TestAnIndexFollowsItsTableLater(t *testing.T) {
	for _, engine := range dynamolocal.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			place := dynamolocal.Start(t, engine)
			place.Setenv(t)
			const most = time.Minute
			var passed atomic.Int64
			p := New(Config{Backend: place.URL, Seed: 1, StaleIndexes: most, Now: func() time.Time {
				return time.Unix(0, passed.Load())
			}})
			front := httptest.NewServer(p)
			t.Cleanup(func() {
				front.Close()
				p.Close()
			})
			cfg, err := config.LoadDefaultConfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &front.URL })
			table := place.Prefix + "Indexed"
			createIndexed(t, c, table)
			const rows = 12
			write := func(group string) {
				for i := range rows {
					_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
						"id": s(fmt.Sprint(i)), "group": s(group), "rank": s(fmt.Sprintf("%02d", i)), "other": s("not projected"),
					}})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			write("old")
			if n := len(group(t, c, table, "old")); n == rows {
				t.Error("rows that were just made are all in the index: it follows at once")
			}
			passed.Add(int64(most)) // the time that is promised
			if n := len(group(t, c, table, "old")); n != rows {
				t.Errorf("%d rows in the index, want %d", n, rows)
			}
			write("new")
			before, after := group(t, c, table, "old"), group(t, c, table, "new")
			if len(before) == 0 || len(before)+len(after) < rows {
				t.Errorf("%d rows as they were, %d as they are; want some as they were, and none lost", len(before), len(after))
			}
			for _, it := range before {
				if it["other"] != nil {
					t.Errorf("the index shows what it does not project: %v", it)
				}
			}
			got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: &table, Key: map[string]types.AttributeValue{"id": s("0")}, ConsistentRead: aws.Bool(true),
			})
			if err != nil || got.Item["group"].(*types.AttributeValueMemberS).Value != "new" {
				t.Errorf("the table shows %v, error %v", got, err)
			}
			passed.Add(int64(most))
			if before, after := group(t, c, table, "old"), group(t, c, table, "new"); len(before) != 0 || len(after) != rows {
				t.Errorf("in the end %d rows as they were, %d as they are", len(before), len(after))
			}
		})
	}
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

// group reads a group page by page.
func group(t *testing.T, c *dynamodb.Client, table, name string) (all []map[string]types.AttributeValue) {
	t.Helper()
	pages := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: &table, IndexName: aws.String("byGroup"), Limit: aws.Int32(5),
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk >= :lo"),
		ExpressionAttributeNames:  map[string]string{"#pk": "group", "#sk": "rank"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": s(name), ":lo": s("00")},
	})
	last := ""
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			rank := it["rank"].(*types.AttributeValueMemberS).Value
			if rank <= last {
				t.Errorf("rank %s after %s", rank, last)
			}
			last = rank
		}
		all = append(all, page.Items...)
	}
	return all
}

func createIndexed(t *testing.T, c *dynamodb.Client, table string) {
	t.Helper()
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("id"), attribute("group"), attribute("rank")},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byGroup"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("group"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("rank"),
					KeyType: types.KeyTypeRange},
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = dynamodb.NewTableExistsWaiter(c).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
}
