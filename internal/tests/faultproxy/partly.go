package faultproxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
)

// object is a JSON object whose values are left as they are.
type object map[string]json.RawMessage

// forwardPart forwards a part of a batch, and gives the rest back as unprocessed. At least one item is forwarded: a
// batch of which DynamoDB does nothing is an error.
func (p *Proxy) forwardPart(req *request, rnd *rand.Rand) (*answer, error) {
	done, rest, err := split(req, rnd)
	if err != nil {
		return nil, err
	}
	part := *req
	part.body = done
	ans, err := p.forward(&part)
	if err != nil || ans.status != http.StatusOK {
		return ans, err
	}
	return ans, ans.giveBack(req.operation, rest)
}

// split takes items out of a batch by chance. It returns the body of what remains, and by table what was taken out, in
// the form in which both stand in requests and answers.
func split(req *request, rnd *rand.Rand) (done []byte, rest object, err error) {
	var body object
	var tables object
	if err := json.Unmarshal(req.body, &body); err != nil {
		return nil, nil, fmt.Errorf("read a batch: %w", err)
	}
	if err := json.Unmarshal(body["RequestItems"], &tables); err != nil {
		return nil, nil, fmt.Errorf("read the items of a batch: %w", err)
	}
	kept, rest := object{}, object{}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		list, wrap, err := itemsOf(req.operation, tables[table])
		if err != nil {
			return nil, nil, err
		}
		var stay, leave []json.RawMessage
		for _, item := range list {
			if rnd.IntN(2) == 0 || len(kept) == 0 && len(stay) == 0 {
				stay = append(stay, item)
			} else {
				leave = append(leave, item)
			}
		}
		if len(stay) > 0 {
			kept[table] = wrap(stay)
		}
		if len(leave) > 0 {
			rest[table] = wrap(leave)
		}
	}
	body["RequestItems"] = encode(kept)
	return encode(body), rest, nil
}

// itemsOf returns the items of one table of a batch, and what puts some of them back into that form: in a batch of
// writes they are a list, in one of reads they are Keys beside other settings.
func itemsOf(operation string, table json.RawMessage) (list []json.RawMessage,
	wrap func([]json.RawMessage) json.RawMessage, err error) {
	if operation == "BatchWriteItem" {
		err = json.Unmarshal(table, &list)
		return list, func(some []json.RawMessage) json.RawMessage { return encode(some) }, err
	}
	var settings object
	if err := json.Unmarshal(table, &settings); err != nil {
		return nil, nil, err
	}
	err = json.Unmarshal(settings["Keys"], &list)
	return list, func(some []json.RawMessage) json.RawMessage {
		with := maps.Clone(settings)
		with["Keys"] = encode(some)
		return encode(with)
	}, err
}

// giveBack adds what was taken out to what the endpoint itself has not processed.
func (a *answer) giveBack(operation string, rest object) error {
	field := "UnprocessedItems"
	if operation == "BatchGetItem" {
		field = "UnprocessedKeys"
	}
	var body object
	if err := json.Unmarshal(a.body, &body); err != nil {
		return fmt.Errorf("read the answer to a batch: %w", err)
	}
	var left object
	if text, is := body[field]; is {
		if err := json.Unmarshal(text, &left); err != nil {
			return fmt.Errorf("read the %s of a batch: %w", field, err)
		}
	}
	for table, its := range left {
		more, _, err := itemsOf(operation, its)
		if err != nil {
			return err
		}
		if rest[table] == nil {
			rest[table] = its
			continue
		}
		list, wrap, err := itemsOf(operation, rest[table])
		if err != nil {
			return err
		}
		rest[table] = wrap(append(list, more...))
	}
	body[field] = encode(rest)
	a.body = encode(body)
	return nil
}

// encode is the JSON of what was JSON before.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("what was JSON is none: %v", err))
	}
	return text
}
