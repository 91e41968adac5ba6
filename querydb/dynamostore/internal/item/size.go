package item

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Size is what DynamoDB counts for the attributes of an item.
func Size(it Item) (size int) {
	for name, v := range it {
		size += len(name) + ValueSize(v)
	}
	return size
}

// ValueSize is what DynamoDB counts for a value. Values that rows have none of count about as much as there.
func ValueSize(v Value) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return NumberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		return sizeOfAll(v.Value, func(e string) int { return len(e) })
	case *types.AttributeValueMemberBS:
		return sizeOfAll(v.Value, func(e []byte) int { return len(e) })
	case *types.AttributeValueMemberNS:
		return sizeOfAll(v.Value, NumberSize)
	case *types.AttributeValueMemberL:
		return sizeOfAll(v.Value, ValueSize)
	case *types.AttributeValueMemberM:
		size := 3
		for name, e := range v.Value {
			size += 1 + len(name) + ValueSize(e)
		}
		return size
	}
	return 1
}

func sizeOfAll[E any](elements []E, sizeOf func(E) int) int {
	size := 3
	for _, e := range elements {
		size += 1 + sizeOf(e)
	}
	return size
}

// NumberSize is a byte for two digits, one more, and one for a minus. The digits are paired from the decimal point, as
// DynamoDB Local counts them: 120 takes two such bytes, as 1 and 20. Zeros at the ends do not count.
func NumberSize(digits string) int {
	mantissa, exponent, _ := strings.Cut(digits, "e")
	size := 1
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	if negative {
		size++
	}
	whole, fraction, _ := strings.Cut(unsigned, ".")
	all := whole + fraction
	first := strings.IndexFunc(all, func(r rune) bool { return r != '0' })
	if first < 0 {
		return size
	}
	last := len(strings.TrimRight(all, "0")) - 1
	power, _ := strconv.Atoi(exponent)
	pair := func(at int) int { return (len(whole) + power - 1 - at) >> 1 } // 0 is that of ones and tens
	return size + pair(first) - pair(last) + 1
}
