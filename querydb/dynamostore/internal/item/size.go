package item

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ValueSize is what DynamoDB counts for a value.
func ValueSize(v Value) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return NumberSize(v.Value)
	case *types.AttributeValueMemberSS:
		size := 3
		for _, e := range v.Value {
			size += 1 + len(e)
		}
		return size
	case *types.AttributeValueMemberL:
		size := 3
		for _, e := range v.Value {
			size += 1 + ValueSize(e)
		}
		return size
	case *types.AttributeValueMemberM:
		size := 3
		for name, e := range v.Value {
			size += 1 + len(name) + ValueSize(e)
		}
		return size
	}
	return 1
}

// NumberSize is a byte for two digits, one more, and one for a minus; zeros at the ends do not count.
func NumberSize(digits string) int {
	digits, _, _ = strings.Cut(digits, "e")
	unsigned, negative := strings.CutPrefix(digits, "-")
	significant := strings.Trim(strings.Replace(unsigned, ".", "", 1), "0")
	size := (len(significant)+1)/2 + 1
	if negative {
		size++
	}
	return size
}
