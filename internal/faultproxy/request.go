package faultproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// request is a request of DynamoDB's JSON protocol.
type request struct {
	operation string // as in UpdateItem
	attempt   int    // as the SDK counts, from 1; 1 where it does not say
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
	return &request{operation, attempt(r.Header), r.Host, r.Header, body}, nil
}

// attempt reads the SDK's account of its attempts, "attempt=2; max=3".
func attempt(h http.Header) int {
	first, _, _ := strings.Cut(h.Get("Amz-Sdk-Request"), ";")
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(first), "attempt="))
	if err != nil {
		return 1
	}
	return n
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

	mu  sync.Mutex
	met map[uint64]uint64 // how many requests there were about the same
}

// draw returns the chance of one request.
func (c *chance) draw(r *request) *rand.Rand {
	about := r.about()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met[about]++
	return rand.New(rand.NewPCG(c.seed^about, c.met[about]))
}

// about is a digest of what a request is about: the key of a single item, else all but what is drawn anew each time.
func (r *request) about() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, r.operation)
	var body map[string]any
	if err := json.Unmarshal(r.body, &body); err != nil {
		_, _ = h.Write(r.body)
		return h.Sum64()
	}
	var of any = []any{body["TableName"], body["Key"]}
	if body["Key"] == nil {
		delete(body, "ClientRequestToken")
		of = body
	}
	if err := json.NewEncoder(h).Encode(of); err != nil { // in the order of the names, unlike the body
		panic(errors.Join(errors.New("what was JSON is none"), err))
	}
	return h.Sum64()
}
