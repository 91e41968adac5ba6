package natssource

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// link is the connection to the servers, which comes and goes.
type link struct {
	nc *nats.Conn

	mu   sync.Mutex
	n    int // counts the connections
	ends context.Context
	end  context.CancelFunc
	why  error // the last try to connect has failed
}

var (
	errNotConnected = errors.New("not connected")
	errBroken       = errors.New("the connection was lost, and is there again")
)

// connect connects, now or later.
func (l *link) connect(address string, options []nats.Option) (err error) {
	l.ends, l.end = context.WithCancel(context.Background())
	l.nc, err = nats.Connect(address, append(options, nats.ReconnectHandler(l.linked),
		nats.DisconnectErrHandler(l.unlinked), nats.ReconnectErrHandler(l.refused))...)
	return err
}

// linked notes that there is another connection: the stream may have lost its end since the last one.
func (l *link) linked(*nats.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	l.why = nil
	l.ends, l.end = context.WithCancel(context.Background())
}

// unlinked ends what is being asked over a connection that is lost.
func (l *link) unlinked(*nats.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

// refused notes why there is no connection.
func (l *link) refused(_ *nats.Conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = err
}

// now is the number of the connection, and a context that ends with it.
func (l *link) now() (int, context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, l.ends
}

// problem is why there is no connection, as far as the client knows; nil where there is one.
func (l *link) problem() error {
	if l.nc.IsConnected() {
		return nil
	}
	l.mu.Lock()
	why := l.why
	l.mu.Unlock()
	if why == nil {
		why = l.nc.LastError()
	}
	if why == nil {
		why = errors.New("no server answers there")
	}
	return fmt.Errorf("%w: %w", errNotConnected, why)
}
