package dynamostore

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// TestAnItemOfNumbersIsAsLargeAsItIsCounted: one that fills what an item may have is taken, and one that has a byte
// more is refused. What is counted too small would be refused after other rows of its event were written.
func TestAnItemOfNumbersIsAsLargeAsItIsCounted(t *testing.T) {
	const most, count = 400 << 10, 500
	s := openWith(t, dynamolocal.Local, Config{}, dynamotest.Small)
	table, pk := &shapeIn(t, s, dynamotest.Small).Layout.Table, shapeIn(t, s, dynamotest.Small).PK
	for _, digits := range []string{"0", "1", "10", "120", "123", "-123", "1.5", "123.4", "0.012", "0.0012", "1.2e+21",
		"1.2e+20", "1.2e-08", "1234567890123456789012345678901234567.8"} {
		numbers := &types.AttributeValueMemberL{}
		for range count {
			numbers.Value = append(numbers.Value, item.Number(digits))
		}
		it := item.Item{pk: item.Text("a"), "numbers": numbers, "rest": item.Text("")}
		size := 0
		for name, v := range it {
			size += len(name) + item.ValueSize(v)
		}
		for more, fits := range []bool{true, false} {
			it["rest"] = item.Text(strings.Repeat("x", most-size+more))
			_, err := s.client.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: it})
			if (err == nil) != fits {
				t.Errorf("%d times %s, and %d bytes more than an item may have: %v", count, digits, more, err)
			}
		}
	}
}
