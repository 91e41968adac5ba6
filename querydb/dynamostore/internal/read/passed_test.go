package read

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// passed counts the bytes that are passed over.
type passed int

func (*passed) Take(int) error { return nil }

func (p *passed) Pass(bytes int) error {
	*p += passed(bytes)
	return nil
}

// TestAnItemThatIsPassedOverCountsWithAllOfItsBytes: those of other kinds may be as large as DynamoDB has them, whoever
// has written them.
func TestAnItemThatIsPassedOverCountsWithAllOfItsBytes(t *testing.T) {
	const large = 10_000
	post := &driver.Table{
		Name: "Blog", Sorted: true, Kind: "post", Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"},
		Fields: []driver.Field{{Name: "title", Scalar: "String"}},
	}
	for what, value := range map[string]item.Value{
		"text":  item.Text(strings.Repeat("a", large)),
		"bytes": &types.AttributeValueMemberB{Value: make([]byte, large)},
		"set":   &types.AttributeValueMemberBS{Value: [][]byte{make([]byte, large)}},
	} {
		p, err := NewReader(nil, item.NewCodecs("")).pager(codecOf(t, post), &driver.Query{Table: post,
			Index: driver.Primary, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		var bytes passed
		_, err = p.take(driver.WithBudget(t.Context(), &bytes), &dynamodb.QueryOutput{ScannedCount: 1,
			Items: []map[string]types.AttributeValue{{"pk": item.Text("user#123"), "sk": item.Text("user#abc"),
				"__edd_e__": item.Text("user"), "it": value}}})
		if err != nil || bytes < large || bytes > large+300 {
			t.Errorf("an item of another kind that holds %d bytes of %s counts as %d, %v", large, what, bytes, err)
		}
	}
}
