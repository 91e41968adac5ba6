package eventlock

import (
	"encoding/json"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// literalOf writes a default, which is JSON, as a literal of GraphQL: there names of fields and values of enums have no
// quotes.
func literalOf(f *schema.EventField, value json.RawMessage) string {
	var elements []json.RawMessage
	if f.List && json.Unmarshal(value, &elements) == nil && elements != nil {
		elem := *f
		elem.List = false
		texts := make([]string, len(elements))
		for i, e := range elements {
			texts[i] = literalOf(&elem, e)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	members := map[string]json.RawMessage{}
	if f.Object != nil && json.Unmarshal(value, &members) == nil && members != nil {
		var texts []string
		for _, field := range f.Object.Fields {
			if member, given := members[field.Name]; given {
				texts = append(texts, field.Name+": "+literalOf(field, member))
			}
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	var name string
	if f.Enum != "" && json.Unmarshal(value, &name) == nil && name != "" {
		return name
	}
	return string(value)
}
