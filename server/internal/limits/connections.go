// Package limits bounds what all clients together take of a server: connections, and memory for requests with events.
package limits

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Connections bounds how many connections there are. One more than that takes the place of one that waits: of the one
// that has sent nothing for longest, else of the one that has been idle for longest. Where every connection has a
// request in hand, the new one is told to come back.
type Connections struct {
	net.Listener
	most    int
	began   time.Time
	Refused atomic.Uint64

	mu   sync.Mutex
	open map[*connection]struct{}
}

// connection knows whether it waits. A request changes that twice, so it takes no lock; to find one that waits, all are
// looked at.
type connection struct {
	net.Conn
	admitted      time.Time
	reads, writes deadline
	// state is fresh, busy or evicted, or since when the connection is idle: nanoseconds after the Connections began.
	state atomic.Int64
}

const (
	fresh   = 0 // nothing has come yet
	busy    = -1
	evicted = -2
)

// grace is how long a new connection has at least to send something. Where many come at once they wait to be accepted.
const grace = 250 * time.Millisecond

// NewConnections bounds the connections of a listener. Their states come from the server, by Changed.
func NewConnections(l net.Listener, most int) *Connections {
	return &Connections{Listener: l, most: most, began: time.Now(), open: map[*connection]struct{}{}}
}

// Accept waits for a connection that there is room for.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		accepted, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &connection{Conn: accepted}
		later, ok := c.admit(conn)
		for later > 0 {
			time.Sleep(later) // nobody is let in meanwhile: that is the point
			later, ok = c.admit(conn)
		}
		if ok {
			return conn, nil
		}
		c.Refused.Add(1)
		refuse(conn)
	}
}

// admit finds room for a connection, later where the one that is to make room is too new.
func (c *Connections) admit(conn *connection) (later time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) >= c.most {
		waiting, state := c.longestWaiting()
		if waiting == nil {
			return 0, false
		}
		if left := grace - time.Since(waiting.admitted); state == fresh && left > 0 {
			return left, false
		}
		if !waiting.state.CompareAndSwap(state, evicted) {
			continue // a request has come meanwhile
		}
		delete(c.open, waiting)
		_ = waiting.Close() // nobody has been promised an answer on it
	}
	conn.admitted = time.Now()
	c.open[conn] = struct{}{}
	return 0, true
}

// longestWaiting is the connection that makes room for another, and its state; nil where all are busy.
func (c *Connections) longestWaiting() (longest *connection, state int64) {
	for conn := range c.open {
		is := conn.state.Load()
		switch {
		case is == busy:
		case longest == nil, is == fresh && state != fresh,
			is == fresh && conn.admitted.Before(longest.admitted),
			is != fresh && state != fresh && is < state:
			longest, state = conn, is
		}
	}
	return longest, state
}

// Changed receives the states of connections from the server.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	known := connectionIn(conn)
	if known == nil {
		return
	}
	switch state {
	case http.StateActive:
		known.state.Store(busy)
	case http.StateIdle:
		known.state.Store(max(1, int64(time.Since(c.began))))
	case http.StateClosed, http.StateHijacked:
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, known)
	}
}

// connectionIn finds the connection that another one wraps.
func connectionIn(conn net.Conn) *connection {
	for {
		switch outer := conn.(type) {
		case *connection:
			return outer
		case interface{ NetConn() net.Conn }:
			conn = outer.NetConn()
		default:
			return nil
		}
	}
}

// CloseWrite tells the client that there is no more, which net/http does before it closes a connection.
func (c *connection) CloseWrite() error {
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// Count is how many connections there are.
func (c *Connections) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// full is the answer to a connection that there is no room for.
const full = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// refuse answers without waiting for what is asked.
func refuse(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // a connection that cannot be written to is closed all the same
	_, _ = conn.Write([]byte(full))
	_ = conn.Close()
}
