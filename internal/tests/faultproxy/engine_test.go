package faultproxy

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// TestAClientThatSendsAgainGetsThrough: AWS's own client takes the proxy for DynamoDB, with checksums, errors that it
// knows and sends again after, and batches done in part.
func TestAClientThatSendsAgainGetsThrough(t *testing.T) {
	for _, engine := range dynamolocal.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			place := dynamolocal.Start(t, engine)
			place.Setenv(t)
			rates := Even(.05)
			rates[Conflicted], rates[CutAmid] = 0, 0 // the client does not send those again
			rates[Partly] = .5
			p := New(Config{Backend: place.URL, Seed: 1, Rates: rates, MostDelay: time.Millisecond,
				MostLate: 10 * time.Millisecond})
			front := httptest.NewServer(p)
			t.Cleanup(func() {
				front.Close()
				p.Close()
			})
			cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRetryer(func() aws.Retryer {
				return retry.NewStandard(func(o *retry.StandardOptions) {
					o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 20, 5*time.Millisecond, unlimited{}
				})
			}))
			if err != nil {
				t.Fatal(err)
			}
			c := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &front.URL })
			table := place.Prefix + "Things"
			createTable(t, c, table)
			counts := p.Counts()
			for n := 0; n < 10 && len(missing(&counts, rates)) > 0; n++ { // which request meets which fault is chance
				want := writeAll(t, c, table)
				p.Settle()
				if diff := cmp.Diff(want, readAll(t, c, table)); diff != "" {
					t.Errorf("items (-written +read):\n%s", diff)
				}
				counts = p.Counts()
			}
			t.Log(counts.String())
			for _, f := range missing(&counts, rates) {
				t.Errorf("no request was %s", f)
			}
			if counts.Retries == 0 {
				t.Error("nothing was sent again")
			}
		})
	}
}

// missing are the faults that no request has met.
func missing(counts *Counts, rates Rates) (list []Fault) {
	for f := None + 1; f < faults; f++ {
		if rates[f] > 0 && counts.Faults[f] == 0 {
			list = append(list, f)
		}
	}
	return list
}

// unlimited lets a client send again as often as it likes.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

func createTable(t *testing.T, c *dynamodb.Client, name string) {
	t.Helper()
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// item is the nth thing that is written, in a value that tells whether it came through whole.
func item(n int) (id string, values map[string]types.AttributeValue) {
	id = fmt.Sprintf("%03d", n)
	return id, map[string]types.AttributeValue{
		"id":   &types.AttributeValueMemberS{Value: id},
		"text": &types.AttributeValueMemberS{Value: "Ž “" + id + "”"},
	}
}

// writeAll writes things in every way there is, and returns what they are.
func writeAll(t *testing.T, c *dynamodb.Client, table string) map[string]string {
	t.Helper()
	all := map[string]string{}
	var batch []types.WriteRequest
	for n := range 200 {
		id, values := item(n)
		all[id] = "Ž “" + id + "”"
		switch n % 3 {
		case 0:
			if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: values}); err != nil {
				t.Fatal(err)
			}
		case 1:
			put := types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: values}}
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put}}
			for { // the client does not send cancelled transactions again
				if _, err := c.TransactWriteItems(t.Context(), in); err == nil {
					break
				} else if t.Context().Err() != nil {
					t.Fatal(err)
				}
			}
		default:
			batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: values}})
		}
		if len(batch) == 25 || n == 199 {
			for rest := map[string][]types.WriteRequest{table: batch}; len(rest) > 0; {
				out, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: rest})
				if err != nil {
					t.Fatal(err)
				}
				rest = out.UnprocessedItems
			}
			batch = nil
		}
	}
	return all
}

// readAll reads the things in batches.
func readAll(t *testing.T, c *dynamodb.Client, table string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for from := 0; from < 200; from += 20 {
		var keys []map[string]types.AttributeValue
		for n := range 20 {
			id, _ := item(from + n)
			keys = append(keys, map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}})
		}
		rest := map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}}
		for len(rest) > 0 {
			out, err := c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: rest})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range out.Responses[table] {
				all[it["id"].(*types.AttributeValueMemberS).Value] = it["text"].(*types.AttributeValueMemberS).Value
			}
			rest = out.UnprocessedKeys
		}
	}
	return all
}
