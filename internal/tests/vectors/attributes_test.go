package vectors

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func compareKeys(a, b attributes) int {
	return cmp.Or(cmp.Compare(a.text("pk"), b.text("pk")), cmp.Compare(a.text("sk"), b.text("sk")))
}

// read puts an item that the SDK has read into the form of the vectors.
func read(t *testing.T, item map[string]types.AttributeValue) attributes {
	t.Helper()
	it := attributes{}
	for name, v := range item {
		it[name] = readValue(t, v)
	}
	return it
}

func readValue(t *testing.T, v types.AttributeValue) map[string]any {
	t.Helper()
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberM:
		m := map[string]any{}
		for name, e := range v.Value {
			m[name] = any(readValue(t, e))
		}
		return map[string]any{"M": m}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, e := range v.Value {
			list = append(list, readValue(t, e))
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": true}
	}
	t.Fatalf("a value is a %T", v)
	return nil
}

// write makes of a value of the vectors one that the SDK writes.
func write(t *testing.T, v map[string]any) types.AttributeValue {
	t.Helper()
	if text, is := v["S"].(string); is {
		return &types.AttributeValueMemberS{Value: strings.Replace(text, "<time>", timeOfItems, 1)}
	}
	if text, is := v["N"].(string); is {
		return &types.AttributeValueMemberN{Value: strings.Replace(text, "<time>", endOfItems, 1)}
	}
	if b, is := v["BOOL"].(bool); is {
		return &types.AttributeValueMemberBOOL{Value: b}
	}
	fields, is := v["M"].(map[string]any)
	if !is {
		t.Fatalf("the vectors hold %v", v)
	}
	m := map[string]types.AttributeValue{}
	for name, e := range fields {
		m[name] = write(t, e.(map[string]any))
	}
	return &types.AttributeValueMemberM{Value: m}
}

// plain is the object that an item holds, but for keys and its type: what an event says that leads to it.
func (it attributes) plain() map[string]any {
	object := map[string]any{}
	for name, v := range it {
		if n, is := v["N"].(string); is {
			object[name] = json.Number(n)
		} else if !keyed.MatchString(name) {
			object[name] = v["S"]
		}
	}
	return object
}

// keyed are the attributes that hold keys, and the one that says which type the item is of.
var keyed = regexp.MustCompile(`^((gsi1)?pk|(gsi1|lsi1)?sk|__edd_e__)$`)

// show is an item with the value of each attribute as a text: its letters, and the value.
func (it attributes) show(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for name, v := range it {
		for letters, value := range v {
			text, is := value.(string)
			if !is {
				text = mustJSON(t, value)
			}
			texts[name] = letters + " " + text
		}
	}
	return texts
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
