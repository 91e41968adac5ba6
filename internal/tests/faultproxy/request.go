package faultproxy

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// request is a request of DynamoDB's JSON protocol.
type request struct {
	operation string // as in UpdateItem
	host      string
	header    http.Header
	body      []byte
}

// mostBody is more than a request to DynamoDB can have.
const mostBody = 32 << 20

func newRequest(r *http.Request) (*request, error) {
	target := r.Header.Get("X-Amz-Target")
	_, operation, ok := strings.Cut(target, ".")
	if !ok {
		return nil, fmt.Errorf("no request to DynamoDB: X-Amz-Target is %q", target)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return &request{operation, r.Host, r.Header, body}, nil
}

// age is how long ago the request was signed, 0 where it does not say.
func (r *request) age(now time.Time) time.Duration {
	at, err := time.Parse("20060102T150405Z", r.header.Get("X-Amz-Date"))
	if err != nil {
		return 0
	}
	return now.Sub(at)
}

func (r *request) writes() bool {
	switch r.operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return true
	}
	return false
}

func (r *request) reads() bool {
	switch r.operation {
	case "GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan":
		return true
	}
	return false
}

func (r *request) batches() bool {
	return r.operation == "BatchGetItem" || r.operation == "BatchWriteItem"
}

func (r *request) transacts() bool {
	return r.operation == "TransactWriteItems" || r.operation == "TransactGetItems"
}

// items is how many rows a transaction or a batch is about.
func (r *request) items() (n int) {
	var body struct {
		TransactItems []json.RawMessage
		RequestItems  object
	}
	if json.Unmarshal(r.body, &body) != nil {
		return 0
	}
	for _, table := range body.RequestItems {
		list, _, err := itemsOf(r.operation, table)
		if err != nil {
			return 0
		}
		n += len(list)
	}
	return n + len(body.TransactItems)
}

// chance draws for requests.
type chance struct {
	seed uint64

	mu   sync.Mutex
	seen map[uint64]uint64 // how many requests there were about the same
}

// draw returns the chance of one request.
func (c *chance) draw(r *request) *rand.Rand {
	about := r.about()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[about]++
	return rand.New(rand.NewPCG(c.seed^about, c.seen[about]))
}

// about is a digest of what a request is about: the key of a single item, else all but what differs each time.
func (r *request) about() uint64 {
	return r.digest(func(body map[string]any) any {
		if body["Key"] != nil {
			return []any{body["TableName"], body["Key"]}
		}
		delete(body, "ClientRequestToken")
		return body
	})
}

// all is a digest of the whole request.
func (r *request) all() uint64 {
	return r.digest(func(body map[string]any) any { return body })
}

// digest is one of the operation and a part of the body, in which the order of names does not count.
func (r *request) digest(part func(body map[string]any) any) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, r.operation)
	var body map[string]any
	if err := json.Unmarshal(r.body, &body); err != nil {
		_, _ = h.Write(r.body)
		return h.Sum64()
	}
	_, _ = h.Write(encode(part(body)))
	return h.Sum64()
}
