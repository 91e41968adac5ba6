package item

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/internal/tests/dynamotest"
)

func TestSizesAreThoseThatDynamoDBCounts(t *testing.T) {
	tests := []struct {
		v    Value
		want int
	}{
		{Text(""), 0}, {Text("é"), 2}, {Number("0"), 1}, {Number("1"), 2}, {Number("12"), 2}, {Number("123"), 3},
		{Number("-123"), 4},
		{Number("1000"), 2}, {Number("0.001"), 2}, {Number("1e+21"), 2}, {Number("1.5"), 2},
		{&types.AttributeValueMemberBOOL{}, 1}, {&types.AttributeValueMemberNULL{}, 1},
		{&types.AttributeValueMemberL{}, 3}, {&types.AttributeValueMemberL{Value: []Value{Text("ab"), Text("")}}, 7},
		{&types.AttributeValueMemberM{Value: Item{"ab": Text("cde")}}, 9},
	}
	for _, test := range tests {
		if got := ValueSize(test.v); got != test.want {
			t.Errorf("%s: %d bytes, want %d", dynamotest.Show(test.v), got, test.want)
		}
	}
}
