package faultproxy

import (
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// answer is an answer of DynamoDB's JSON protocol.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// write sends the answer, or the first half of it before the connection ends.
func (a *answer) write(w http.ResponseWriter, cut bool) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10))
	w.WriteHeader(a.status)
	if !cut {
		_, _ = w.Write(a.body) // an error is that of somebody who has gone away
		return
	}
	_, _ = w.Write(a.body[:len(a.body)/2])
	_ = http.NewResponseController(w).Flush() // as above
	panic(http.ErrAbortHandler)
}

// errorType is the name of the error that the answer is, "" where it is none.
func (a *answer) errorType() string {
	if a.status/100 == 2 {
		return ""
	}
	var body struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(a.body, &body) != nil {
		return ""
	}
	return body.Type[strings.LastIndexByte(body.Type, '#')+1:]
}

// conditions is how many conditions failed, of a write or of the items of a transaction.
func (a *answer) conditions() (n int) {
	switch a.errorType() {
	case "ConditionalCheckFailedException":
		return 1
	case "TransactionCanceledException":
		var body struct{ CancellationReasons []reason }
		if json.Unmarshal(a.body, &body) != nil {
			return 0
		}
		for _, r := range body.CancellationReasons {
			if r.Code == "ConditionalCheckFailed" {
				n++
			}
		}
	}
	return n
}

// Where the types of errors are declared.
const (
	dynamo = "com.amazonaws.dynamodb.v20120810#"
	coral  = "com.amazon.coral.availability#"
)

// reason is why an item of a transaction was not written.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
}

// throttle refuses a request, in one of the ways in which DynamoDB does.
func throttle(req *request, rnd *rand.Rand) *answer {
	if req.transacts() && rnd.IntN(2) == 0 {
		return cancel(req, pick(rnd, "ThrottlingError", "ProvisionedThroughputExceeded"), rnd)
	}
	kind := pick(rnd, dynamo+"ProvisionedThroughputExceededException", dynamo+"ThrottlingException",
		coral+"ThrottlingException", dynamo+"RequestLimitExceeded")
	return newError(http.StatusBadRequest, kind, rnd, map[string]any{"message": "Too many requests; send this one again."})
}

// conflict refuses a write because of a transaction.
func conflict(req *request, rnd *rand.Rand) *answer {
	if req.transacts() {
		return cancel(req, "TransactionConflict", rnd)
	}
	if req.operation == "BatchWriteItem" {
		return throttle(req, rnd)
	}
	return newError(http.StatusBadRequest, dynamo+"TransactionConflictException", rnd,
		map[string]any{"message": "A transaction is under way on the item."})
}

// cancel is the answer to a transaction that one of its items stops.
func cancel(req *request, code string, rnd *rand.Rand) *answer {
	reasons := make([]reason, max(req.items(), 1))
	codes := make([]string, len(reasons))
	at := rnd.IntN(len(reasons))
	for i := range reasons {
		reasons[i].Code = "None"
		if i == at {
			reasons[i] = reason{code, "The item cannot be written now."}
		}
		codes[i] = reasons[i].Code
	}
	return newError(http.StatusBadRequest, dynamo+"TransactionCanceledException", rnd, map[string]any{
		"CancellationReasons": reasons,
		"Message": fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific "+
			"reasons [%s]", strings.Join(codes, ", ")),
	})
}

// failure is an error of the server, which says nothing of whether the request was done.
func failure(rnd *rand.Rand) *answer {
	if rnd.IntN(2) == 0 {
		return newError(http.StatusServiceUnavailable, coral+"ServiceUnavailableException", rnd,
			map[string]any{"message": "Not now."})
	}
	return newError(http.StatusInternalServerError, dynamo+"InternalServerError", rnd,
		map[string]any{"message": "Something broke."})
}

// expired refuses a request that was signed too long ago.
func expired() *answer {
	return newError(http.StatusBadRequest, "com.amazon.coral.service#InvalidSignatureException",
		rand.New(rand.NewPCG(0, 0)),
		map[string]any{"message": "Signature expired."})
}

func newError(status int, kind string, rnd *rand.Rand, body map[string]any) *answer {
	body["__type"] = kind
	text, err := json.Marshal(body)
	if err != nil {
		panic(errors.Join(errors.New("an error without a JSON form"), err))
	}
	h := http.Header{}
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("X-Amzn-Requestid", requestID(rnd))
	return &answer{status, h, text}
}

// requestID looks like those of DynamoDB: 52 capital letters and digits.
func requestID(rnd *rand.Rand) string {
	id := make([]byte, 32)
	for i := range id {
		id[i] = byte(rnd.Uint32())
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id)
}

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }
