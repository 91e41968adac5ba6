package catalog

import (
	"encoding/json"
	"fmt"
	"io"
)

// Filter says which rows a query answers, in the form in which clients send it: the names of fields with conditions on
// them, which are Filters too, and the combiners and, or and not. Of values it has what JSON has, with enums as texts,
// or a time.Time, a keys.Decimal or a keys.Date:
//
//	catalog.Filter{"status": catalog.Filter{"in": []any{"OPEN", "PAID"}}, "total": catalog.Filter{"ge": 100}}
//
// What it says is read by the query that takes it.
type Filter map[string]any

// UnmarshalGQL takes a filter as a client sends it. What is no object is an error.
func (f *Filter) UnmarshalGQL(v any) error {
	given, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("a filter is an object, and %T was given", v)
	}
	*f = given
	return nil
}

// MarshalGQL writes the filter as JSON.
func (f Filter) MarshalGQL(w io.Writer) {
	_ = json.NewEncoder(w).Encode(map[string]any(f)) // an answer never has a filter
}
