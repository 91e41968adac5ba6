package dynamostore

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/internal/tests/dynamotest"
)

func TestSizesAreThoseThatDynamoDBCounts(t *testing.T) {
	tests := []struct {
		v    value
		want int
	}{
		{text(""), 0}, {text("é"), 2}, {number("0"), 1}, {number("1"), 2}, {number("12"), 2}, {number("123"), 3},
		{number("-123"), 4},
		{number("1000"), 2}, {number("0.001"), 2}, {number("1e+21"), 2}, {number("1.5"), 2},
		{&types.AttributeValueMemberBOOL{}, 1}, {&types.AttributeValueMemberNULL{}, 1},
		{&types.AttributeValueMemberL{}, 3}, {&types.AttributeValueMemberL{Value: []value{text("ab"), text("")}}, 7},
		{&types.AttributeValueMemberM{Value: item{"ab": text("cde")}}, 9},
	}
	for _, test := range tests {
		if got := valueSize(test.v); got != test.want {
			t.Errorf("%s: %d bytes, want %d", dynamotest.Show(test.v), got, test.want)
		}
	}
}
