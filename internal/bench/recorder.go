package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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

func newRecorder(engine string) (*recorder, error) {
	to, err := url.Parse(engine)
	if err != nil {
		return nil, fmt.Errorf("record requests to %s: %w", engine, err)
	}
	r := &recorder{}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * inFlight},
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.note(q.Header.Get("X-Amz-Target"), body)
		defer r.flying.Add(-1)
		q.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, q)
	}))
	return r, nil
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
