// Package front answers at the address of the server that is developed, in front of it: it hands requests on to the
// server that runs, has them wait while that is replaced, and tells GraphiQL what is wrong.
//
// It changes neither requests nor answers in what the server decides by: who asks, by which name and from which page,
// and through which proxies. Its own part is for this machine alone.
package front

import (
	"context"
	"net/url"
	"sync"
)

// State is what a developer wants to know; GraphiQL shows it.
type State struct {
	// Doing is what is being done, such as "building the server"; "" where all is done.
	Doing string `json:"doing,omitempty"`
	// Serving says that there is a server that answers.
	Serving bool `json:"serving"`
	// Starts is how many servers have come up: where it has changed, another schema may be served.
	Starts int `json:"starts"`
	// Failed is what has failed last, such as "build the server"; "" where nothing has.
	Failed string `json:"failed,omitempty"`
	// Error is why, in full.
	Error string `json:"error,omitempty"`
}

// Board holds the state, and where the server is, for all that ask.
type Board struct {
	mu      sync.Mutex
	state   State
	server  *url.URL      // of the server that answers; nil where there is none
	busy    int           // requests that were handed on, and not answered yet
	changed chan struct{} // closed with each change
}

// NewBoard returns a board without a server yet.
func NewBoard() *Board { return &Board{changed: make(chan struct{})} }

// State returns the state, and a channel that is closed when it has changed.
func (b *Board) State() (State, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.changed
}

// Doing says what is being done. While it is, requests wait for a server where there is none.
func (b *Board) Doing(what string) {
	b.change(func() { b.state.Doing = what })
}

// Fail says what has failed, and why. Nothing is being done any more.
func (b *Board) Fail(what, why string) {
	b.change(func() { b.state.Doing, b.state.Failed, b.state.Error = "", what, why })
}

// Mend says that nothing is wrong, and nothing is being done.
func (b *Board) Mend() {
	b.change(func() { b.state.Doing, b.state.Failed, b.state.Error = "", "", "" })
}

// Serve hands requests on to the server at a URL.
func (b *Board) Serve(at *url.URL) {
	b.change(func() {
		b.server, b.state.Serving = at, true
		b.state.Starts++
	})
}

// Leave hands no more requests on to the server, and returns when those that were are answered, or the context ends.
func (b *Board) Leave(ctx context.Context) {
	b.change(func() { b.server, b.state.Serving = nil, false })
	for {
		b.mu.Lock()
		busy, changed := b.busy, b.changed
		b.mu.Unlock()
		if busy == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Board) change(to func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to()
	close(b.changed)
	b.changed = make(chan struct{})
}

// enter returns the server to hand a request on to, once there is one; leave is called with its answer. It returns nil
// where nothing is done for one to come, or the context ends before.
func (b *Board) enter(ctx context.Context) (server *url.URL, leave func()) {
	for {
		b.mu.Lock()
		server, doing, changed := b.server, b.state.Doing, b.changed
		if server != nil {
			b.busy++
		}
		b.mu.Unlock()
		if server != nil {
			return server, func() { b.change(func() { b.busy-- }) }
		}
		if doing == "" {
			return nil, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil
		}
	}
}
