package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The paths of the shop that are attacked.
const (
	api    = "/graphql"
	events = "/events"
)

// request is one request and what must come of it.
type request struct {
	kind    string // what was done to it
	method  string
	path    string
	query   string // as it stands in the URL
	header  http.Header
	body    string
	tail    int64 // bytes of white space that follow the body
	sized   bool  // the length of the body is announced
	broken  bool  // the body ends with an error of the connection
	trouble trouble
	// want returns what is wrong with an answer beyond what no answer may be; nil where anything goes.
	want func(*answer) error
}

// trouble is what goes wrong on the side of the server, on purpose.
type trouble int

const (
	none      trouble = iota
	expired           // the time of the request is over when it comes
	cancelled         // the client has gone
	refusing          // the store refuses to read
	throttled         // the store has too much to do
	slow              // the store does not answer in time
)

var troubles = []trouble{expired, cancelled, refusing, throttled, slow}

type troubleKey struct{}

// context returns the context in which the request comes.
func (q *request) context() (context.Context, context.CancelFunc) {
	ctx := context.WithValue(context.Background(), troubleKey{}, q.trouble)
	switch q.trouble {
	case expired:
		return context.WithDeadline(ctx, time.Unix(1, 0))
	case slow:
		return context.WithTimeout(ctx, time.Millisecond)
	}
	ctx, cancel := context.WithCancel(ctx)
	if q.trouble == cancelled {
		cancel()
	}
	return ctx, cancel
}

// http returns the request as a server would hand it to its handler.
func (q *request) http(ctx context.Context) *http.Request {
	var body io.Reader = strings.NewReader(q.body)
	size := int64(len(q.body)) + q.tail
	if q.tail > 0 {
		body = io.MultiReader(body, io.LimitReader(blanks{}, q.tail))
	}
	if q.broken {
		body = io.MultiReader(body, failing{})
	}
	if !q.sized {
		size = -1
	}
	r := &http.Request{
		Method: q.method, URL: &url.URL{Path: q.path, RawQuery: q.query}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: q.header, Body: io.NopCloser(body), ContentLength: size, Host: "localhost:8080", RemoteAddr: "127.0.0.1:1234",
	}
	return r.WithContext(ctx)
}

// String shows the request as far as somebody who fixes what it found needs it.
func (q *request) String() string {
	return fmt.Sprintf("%s: %s %s?%.2000s\n%v\n%.4000q", q.kind, q.method, q.path, q.query, q.header, q.body)
}

// blanks is white space without end.
type blanks struct{}

var blank = strings.Repeat(" ", 64<<10)

func (blanks) Read(p []byte) (int, error) { return copy(p, blank), nil }

// failing is a connection that breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// answer is what the handler wrote. It is a http.ResponseWriter.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// send has the handler answer the request.
func (q *request) send(h http.Handler) *answer {
	ctx, cancel := q.context()
	defer cancel()
	a := &answer{header: http.Header{}}
	h.ServeHTTP(a, q.http(ctx))
	return a
}

// headers makes the header of a request.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for pair := range slices.Chunk(pairs, 2) {
		h.Add(pair[0], pair[1])
	}
	return h
}

// post makes a request that asks a document, with variables as JSON or "" for none.
func post(kind, document, variables string) *request {
	body := `{"query":` + quoted(document)
	if variables != "" {
		body += `,"variables":` + variables
	}
	return &request{
		kind: kind, method: http.MethodPost, path: api, header: headers("Content-Type", "application/json"),
		body: body + "}", sized: true,
	}
}
