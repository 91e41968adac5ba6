package client

import (
	"bytes"
	"net/http"
)

// InProcess returns a client of a handler in this process, which answers under that name.
func InProcess(who string, h http.Handler) *Client {
	return &Client{Who: who, Base: "http://store", shown: who, Http: &http.Client{Transport: answering{h}}}
}

// answering is a transport to a handler in this process.
type answering struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (t answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a := &answer{header: http.Header{}, status: http.StatusOK}
	t.ServeHTTP(a, r)
	return &http.Response{
		StatusCode: a.status, Header: a.header, Body: readCloser{&a.body}, ContentLength: int64(a.body.Len()),
		ProtoMajor: 1, ProtoMinor: 1, Request: r,
	}, nil
}

// answer is a response that is kept.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// readCloser is a buffer with nothing to close.
type readCloser struct{ *bytes.Buffer }

// Close implements io.Closer.
func (readCloser) Close() error { return nil }
