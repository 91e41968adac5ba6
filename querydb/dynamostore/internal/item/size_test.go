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
		{Number("1000"), 2}, {Number("0.001"), 2}, {Number("1e+21"), 2}, {Number("1.2e+21"), 2}, {Number("1.2e+20"), 3},
		{Number("1.2e-07"), 2}, {Number("1.2e-08"), 3}, {Number("1.5"), 3}, {Number("120"), 3}, {Number("1230"), 3},
		{Number("-12.5"), 4}, {Number("123.4"), 4}, {Number("0.012"), 3}, {Number("0.0012"), 2},
		{&types.AttributeValueMemberBOOL{}, 1}, {&types.AttributeValueMemberNULL{}, 1},
		{&types.AttributeValueMemberB{Value: []byte("abc")}, 3},
		{&types.AttributeValueMemberBS{Value: [][]byte{[]byte("abc"), []byte("d")}}, 9},
		{&types.AttributeValueMemberNS{Value: []string{"1", "12"}}, 9},
		{&types.AttributeValueMemberL{}, 3}, {&types.AttributeValueMemberL{Value: []Value{Text("ab"), Text("")}}, 7},
		{&types.AttributeValueMemberM{Value: Item{"ab": Text("cde")}}, 9},
	}
	for _, test := range tests {
		if got := ValueSize(test.v); got != test.want {
			t.Errorf("%s: %d bytes, want %d", dynamotest.Show(test.v), got, test.want)
		}
	}
}
