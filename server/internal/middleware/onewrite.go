package middleware

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// OneWrite is a listener whose connections send an answer with one call of the system: net/http would send it in pieces
// of 4 KB, and each of them is a call, a packet, and a client who wakes up for a part.
//
// LogRequests holds an answer back that says how long it is, and finds the connection by the context of ConnContext.
type OneWrite struct{ net.Listener }

// Accept waits for a connection.
func (l OneWrite) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &holding{Conn: conn}, nil
}

type holdingKey struct{}

// ConnContext is that of an http.Server which accepts connections from OneWrite.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, holdingKey{}, conn)
}

func connectionOf(r *http.Request) *holding {
	conn, _ := r.Context().Value(holdingKey{}).(*holding)
	return conn
}

// The length of an answer that is held back: one that is shorter leaves at once anyway, and a longer one would take
// memory that a client who reads slowly could keep.
const (
	leastHeld = 2 << 10
	mostHeld  = 16 << 10
)

// holding is a connection that can hold back what is written to it. One goroutine writes: the one that answers.
type holding struct {
	net.Conn
	held *[]byte // nil where what is written is sent
}

var heldBuffers = sync.Pool{New: func() any { return new([]byte) }}

// NetConn is the connection that is wrapped.
func (c *holding) NetConn() net.Conn { return c.Conn }

func (c *holding) hold() { c.held = heldBuffers.Get().(*[]byte) }

// Write implements net.Conn.
func (c *holding) Write(b []byte) (int, error) {
	if c.held == nil {
		return c.Conn.Write(b)
	}
	*c.held = append(*c.held, b...)
	return len(b), nil
}

// send sends what was held back. Where that fails the connection is closed: another answer would follow a part of this
// one.
func (c *holding) send() error {
	held := c.held
	c.held = nil
	_, err := c.Conn.Write(*held)
	*held = (*held)[:0]
	heldBuffers.Put(held)
	if err != nil {
		_ = c.Close() // the error is that of the write
	}
	return err
}

// CloseWrite tells the client that there is no more, which net/http does before it closes a connection.
func (c *holding) CloseWrite() error {
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// holdBack holds an answer back if its length is known and such that it is worth it.
func (w *observed) holdBack() {
	length := w.Header()["Content-Length"]
	if w.conn == nil || len(length) != 1 {
		return
	}
	if n, err := strconv.ParseInt(length[0], 10, 64); err == nil && n >= leastHeld && n <= mostHeld {
		w.length = n
		w.conn.hold()
	}
}

// FlushError sends what there is of the answer. It is what an http.ResponseController calls.
func (w *observed) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if w.length == 0 {
		return err
	}
	w.length = 0
	if failed := w.conn.send(); failed != nil {
		return failed
	}
	return err
}

// end sends an answer that is still held back: it has no body, or less of it than it says.
func (w *observed) end() {
	if w.length > 0 {
		_ = w.FlushError() // a client who has gone needs no answer
	}
}
