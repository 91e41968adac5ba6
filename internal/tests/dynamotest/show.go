package dynamotest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Show writes an attribute value in short.
func Show(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberSS:
		return "{" + strings.Join(v.Value, " ") + "}"
	case *types.AttributeValueMemberM:
		m := map[string]string{}
		for name, e := range v.Value {
			m[name] = Show(e)
		}
		return fmt.Sprint(m)
	case *types.AttributeValueMemberL:
		var list []string
		for _, e := range v.Value {
			list = append(list, Show(e))
		}
		return fmt.Sprint(list)
	}
	return fmt.Sprintf("%T", v)
}

// ShowItem is an item with each attribute as Show has it, by name.
func ShowItem(it map[string]types.AttributeValue) map[string]string {
	out := map[string]string{}
	for name, v := range it {
		out[name] = Show(v)
	}
	return out
}

// Spell puts the names and values of an expression in their places.
func Spell(expression string, names map[string]string, values map[string]types.AttributeValue) string {
	var pairs []string
	for placeholder, name := range names {
		pairs = append(pairs, placeholder, name)
	}
	for placeholder, v := range values {
		pairs = append(pairs, placeholder, Show(v))
	}
	var list [][2]string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, [2]string{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	pairs = pairs[:0]
	for _, p := range list {
		pairs = append(pairs, p[0], p[1])
	}
	return strings.NewReplacer(pairs...).Replace(expression)
}
