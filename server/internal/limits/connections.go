// Package limits bounds what all clients together take of a server: connections, and memory for requests with events.
package limits

import (
	"container/list"
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
	Refused atomic.Uint64

	mu    sync.Mutex
	open  map[net.Conn]*connection
	fresh list.List // of net.Conn, the oldest first: nothing has come yet
	idle  list.List // of net.Conn, the longest idle first
}

// connection is where a connection waits; both are nil while it has a request in hand.
type connection struct {
	in    *list.List
	at    *list.Element
	since time.Time // when it was accepted
}

// grace is how long a new connection has at least to send something. Where many come at once they wait to be accepted.
const grace = 250 * time.Millisecond

func NewConnections(l net.Listener, most int) *Connections {
	return &Connections{Listener: l, most: most, open: map[net.Conn]*connection{}}
}

// Accept waits for a connection that there is room for.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		evicted, later, ok := c.admit(conn)
		for later > 0 {
			time.Sleep(later) // nobody is let in meanwhile: that is the point
			evicted, later, ok = c.admit(conn)
		}
		if evicted != nil {
			_ = evicted.Close() // nobody has been promised an answer on it
		}
		if ok {
			return conn, nil
		}
		c.Refused.Add(1)
		refuse(conn)
	}
}

// admit finds room for a connection, later where the one that is to make room is too new.
func (c *Connections) admit(conn net.Conn) (evicted net.Conn, later time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most {
		oldest := c.fresh.Front()
		if oldest == nil {
			oldest = c.idle.Front()
		}
		if oldest == nil {
			return nil, 0, false
		}
		evicted = oldest.Value.(net.Conn)
		if known := c.open[evicted]; known.in == &c.fresh {
			if left := grace - time.Since(known.since); left > 0 {
				return nil, left, false
			}
		}
		c.forget(evicted)
	}
	c.open[conn] = &connection{since: time.Now()}
	c.wait(conn, &c.fresh)
	return evicted, 0, true
}

// wait puts a connection at the end of those that wait in a list; nil takes it out of the one that it is in.
func (c *Connections) wait(conn net.Conn, in *list.List) {
	known := c.open[conn]
	if known == nil { // it has been evicted
		return
	}
	if known.in != nil {
		known.in.Remove(known.at)
	}
	known.in, known.at = in, nil
	if in != nil {
		known.at = in.PushBack(conn)
	}
}

func (c *Connections) forget(conn net.Conn) {
	c.wait(conn, nil)
	delete(c.open, conn)
}

// Changed receives the states of connections from the server.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateActive:
		c.wait(conn, nil)
	case http.StateIdle:
		c.wait(conn, &c.idle)
	case http.StateClosed, http.StateHijacked:
		c.forget(conn)
	}
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
