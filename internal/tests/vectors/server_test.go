// Package vectors compares what is stored for the objects of the vectors with what the original system stored for them,
// and reads a table of that system as it is.
package vectors

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/exampleserver"
)

func TestMain(m *testing.M) { exampleserver.Main(m, "project") }

// site is a server of the models of the vectors, and the tables behind it.
type site struct {
	*exampleserver.Server
	events int
}

func eachEngine(t *testing.T, test func(t *testing.T, s *site)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) { test(t, &site{Server: exampleserver.Start(t, e)}) })
	}
}

// fold appends an event, and waits until all of it is done.
func (s *site) fold(t *testing.T, kind string, data any) {
	t.Helper()
	s.events++
	text, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": fmt.Sprint(s.events), "source": "/vectors", "type": kind, "subject": "vectors",
		"time": "2026-01-02T03:04:05Z", "data": data,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Append(t, text)
}

// items reads a whole table with the SDK.
func (s *site) items(t *testing.T, table string) (all []attributes) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(s.DynamoDB, &dynamodb.ScanInput{
		TableName: aws.String(s.Prefix + table), ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			all = append(all, read(t, it))
		}
	}
	return all
}

// timeOfItems and endOfItems are put in place of the times that the vectors have taken out.
const (
	timeOfItems = "2026-01-01T00:00:00.000Z"
	endOfItems  = "4102444800"
)

// put writes items with the SDK, as they are.
func (s *site) put(t *testing.T, table string, items ...attributes) {
	t.Helper()
	for _, it := range items {
		item := map[string]types.AttributeValue{}
		for name, v := range it {
			item[name] = write(t, v)
		}
		_, err := s.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(s.Prefix + table), Item: item,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
