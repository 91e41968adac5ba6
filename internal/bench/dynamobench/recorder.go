package dynamobench

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
)

// recorder stands between a store and DynamoDB Local: it counts the requests that are in flight, and keeps them.
type recorder struct {
	*httptest.Server
	flying, most atomic.Int64

	mu   sync.Mutex
	tape []recorded // in the order in which the requests began
}

// recorded is a request as it was sent.
type recorded struct {
	operation string // such as UpdateItem
	body      []byte
}

func newRecorder(engine string) (r *recorder, err error) {
	r = &recorder{}
	r.Server, err = between(engine, func(q *http.Request, body []byte) func() {
		r.note(q.Header.Get("X-Amz-Target"), body)
		return func() { r.flying.Add(-1) }
	})
	return r, err
}

func (r *recorder) note(target string, body []byte) {
	now := r.flying.Add(1)
	for most := r.most.Load(); now > most && !r.most.CompareAndSwap(most, now); most = r.most.Load() {
	}
	_, operation, _ := strings.Cut(target, ".")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tape = append(r.tape, recorded{operation, body})
}

// take returns what was recorded since it was called last.
func (r *recorder) take() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	tape := r.tape
	r.tape = nil
	return tape
}
