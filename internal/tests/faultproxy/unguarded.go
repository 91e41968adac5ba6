package faultproxy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// placeholder finds the names and values that an expression refers to.
var placeholder = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// withoutCondition takes the condition out of a request, and the names and values that nothing else refers to, since
// DynamoDB refuses what is not used.
func withoutCondition(request []byte) ([]byte, error) {
	var body object
	if err := json.Unmarshal(request, &body); err != nil {
		return nil, fmt.Errorf("read an update: %w", err)
	}
	delete(body, "ConditionExpression")
	used := map[string]bool{}
	for field, text := range body {
		if strings.HasSuffix(field, "Expression") {
			for _, name := range placeholder.FindAllString(string(text), -1) {
				used[name] = true
			}
		}
	}
	for _, field := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		if body[field] == nil {
			continue
		}
		var all object
		if err := json.Unmarshal(body[field], &all); err != nil {
			return nil, fmt.Errorf("read the %s of an update: %w", field, err)
		}
		for name := range all {
			if !used[name] {
				delete(all, name)
			}
		}
		if body[field] = encode(all); len(all) == 0 {
			delete(body, field)
		}
	}
	return encode(body), nil
}
