package faultproxy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Without is something that a Proxy takes out of the requests of foldql, which is not correct without it: that a test
// notices shows that it proves something.
type Without uint8

// What can be taken out.
const (
	// Nothing is taken out.
	Nothing Without = iota
	// WriteConditions are the conditions of UpdateItem requests.
	WriteConditions
	// PositionConditions are those of writes of rows that no event may write which a row has already.
	PositionConditions
	// RevisionConditions are those of writes of rows that were read before.
	RevisionConditions
	// SourceConditions are the conditions of transactions on rows that they do not write: those that they copy.
	SourceConditions
	// Links are the notes of which row holds a copy of which, which transactions write.
	Links
	// Resumption is what a server needs to go on with the cascades of another: to list those that have not ended.
	Resumption
)

// Conditions of rows have these names in them: see package write of dynamostore.
const (
	positionName = "#pos"
	revisionName = "#rev"
)

// Kinds of notes begin with these: see package checkpoint of projections.
const (
	linkNotes    = "link:"
	cascadeNotes = "cascade:"
)

// takeOutOf changes a request. Notes is the table of notes.
func (w Without) takeOutOf(req *request, notes string) (err error) {
	switch {
	case w == WriteConditions && req.operation == "UpdateItem":
		req.body, err = withoutCondition(req.body)
	case w.conditionsOf() != "" && req.operation == "UpdateItem":
		if w.guards(req.body, notes) {
			req.body, err = withoutCondition(req.body)
		}
	case (w == SourceConditions || w == Links || w.conditionsOf() != "") && req.operation == "TransactWriteItems":
		req.body, err = w.takeOutOfTransaction(req.body, notes)
	case w == Resumption && req.operation == "Query":
		req.body, err = withoutCascades(req.body, notes)
	}
	return err
}

// conditionsOf is the name that those conditions of rows have in them that are taken out, "" where none are.
func (w Without) conditionsOf() string {
	switch w {
	case PositionConditions:
		return positionName
	case RevisionConditions:
		return revisionName
	}
	return ""
}

// guards reports whether a write, which is a request or an element of a transaction, is of a row and has such a
// condition.
func (w Without) guards(write []byte, notes string) bool {
	var about struct{ TableName, ConditionExpression string }
	return json.Unmarshal(write, &about) == nil && about.TableName != notes &&
		strings.Contains(about.ConditionExpression, w.conditionsOf())
}

// action is an element of a transaction: its name, such as Update, and what it is about.
type action map[string]struct {
	TableName string
	Key       object
}

// takeOutOfTransaction puts a condition that always holds in the place of each element that is to go. So the answer
// still has a reason for each element, and there is something left to be done.
func (w Without) takeOutOfTransaction(request []byte, notes string) (_ []byte, err error) {
	var body object
	var elements []json.RawMessage
	if err := json.Unmarshal(request, &body); err != nil {
		return nil, fmt.Errorf("read a transaction: %w", err)
	}
	if err := json.Unmarshal(body["TransactItems"], &elements); err != nil {
		return nil, fmt.Errorf("read the elements of a transaction: %w", err)
	}
	for i, text := range elements {
		var element action
		if err := json.Unmarshal(text, &element); err != nil {
			return nil, fmt.Errorf("read an element of a transaction: %w", err)
		}
		for name, about := range element {
			check := name == "ConditionCheck"
			if !check && w.conditionsOf() != "" {
				if elements[i], err = w.unguarded(name, text, notes); err != nil {
					return nil, err
				}
			}
			if w == SourceConditions && check && about.TableName != notes ||
				w == Links && !check && about.TableName == notes && hasText(about.Key, linkNotes) {
				elements[i] = encode(holds(about.TableName, about.Key))
			}
		}
	}
	body["TransactItems"] = encode(elements)
	return encode(body), nil
}

// unguarded is an element of that name without the condition that is to go.
func (w Without) unguarded(name string, element []byte, notes string) (json.RawMessage, error) {
	var write object
	if err := json.Unmarshal(element, &write); err != nil {
		return nil, fmt.Errorf("read an element of a transaction: %w", err)
	}
	if !w.guards(write[name], notes) {
		return element, nil
	}
	free, err := withoutCondition(write[name])
	if err != nil {
		return nil, err
	}
	write[name] = free
	return encode(write), nil
}

// holds is an element whose condition holds, whatever the item is.
func holds(table string, key object) map[string]any {
	return map[string]any{"ConditionCheck": map[string]any{
		"TableName": table, "Key": key, "ConditionExpression": "attribute_exists(#any) OR attribute_not_exists(#any)",
		"ExpressionAttributeNames": map[string]string{"#any": "any"},
	}}
}

// hasText reports whether one of the attributes is a text that begins so.
func hasText(attributes object, prefix string) bool {
	for _, a := range attributes {
		if strings.HasPrefix(text(a), prefix) {
			return true
		}
	}
	return false
}

// withoutCascades has a query for cascades ask for notes of a kind that there is not.
func withoutCascades(request []byte, notes string) ([]byte, error) {
	var body object
	var query struct {
		TableName                 string
		ExpressionAttributeValues object
	}
	for _, into := range []any{&body, &query} {
		if err := json.Unmarshal(request, into); err != nil {
			return nil, fmt.Errorf("read a query: %w", err)
		}
	}
	if query.TableName != notes {
		return request, nil
	}
	for name, value := range query.ExpressionAttributeValues {
		if strings.HasPrefix(text(value), cascadeNotes) {
			query.ExpressionAttributeValues[name] = encode(map[string]string{"S": "no " + cascadeNotes})
			body["ExpressionAttributeValues"] = encode(query.ExpressionAttributeValues)
		}
	}
	return encode(body), nil
}
