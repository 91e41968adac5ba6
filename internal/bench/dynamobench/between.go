package dynamobench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"time"
)

// between starts a server that hands requests on to the engine, after it has seen their bodies.
func between(engine string, see func(q *http.Request, body []byte) (done func())) (*httptest.Server, error) {
	to, err := url.Parse(engine)
	if err != nil {
		return nil, fmt.Errorf("stand between a store and %s: %w", engine, err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * inFlight},
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer see(q, body)()
		q.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, q)
	})), nil
}

// delayed stands between everybody and the engine, and hands on each request a while later: DynamoDB is some
// milliseconds away, and an engine on the same machine is not.
func delayed(engine string, by time.Duration) (*httptest.Server, error) {
	return between(engine, func(*http.Request, []byte) func() {
		time.Sleep(by)
		return func() {}
	})
}
