package limits

import (
	"errors"
	"os"
	"sync"
	"time"
)

// deadline is that of the reads of a connection, or of its writes. net/http sets eight for a request, and hardly
// any of them ever passes; to set one moves a timer of the runtime, which all together cost more than a small answer
// does. So a deadline that is later than the one of the network connection below, or none, is only noted. When the
// earlier one passes, what waited goes on until the one that is noted.
type deadline struct {
	mu      sync.Mutex
	noted   time.Time // by which it is to end; zero where there is no deadline
	below   time.Time // that of the network connection, never later than the noted one; zero where it has none
	expired bool      // the one below has passed
}

// HeaderTimeout is how long a client has to send the head of a request. It is the shortest deadline that is set for a
// request, and so how far ahead the deadline below is set at most: a later one need not be set at once.
const HeaderTimeout = 10 * time.Second

// set notes a deadline, and sets it below where that must not wait.
func (d *deadline) set(at time.Time, below func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = at
	if at.IsZero() || !d.below.IsZero() && !at.Before(d.below) {
		return nil
	}
	return d.setBelow(at, below)
}

func (d *deadline) setBelow(at time.Time, below func(time.Time) error) error {
	d.below, d.expired = at, false
	return below(at)
}

// begin is called before a read or a write: one that has passed must not end it if it is not what is noted.
func (d *deadline) begin(below func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.expired || d.noted.Equal(d.below) {
		return nil
	}
	return d.renew(below)
}

// renew sets the deadline below anew, after the former one has passed.
func (d *deadline) renew(below func(time.Time) error) error {
	at := d.noted
	if !at.IsZero() {
		if soon := time.Now().Add(HeaderTimeout); soon.Before(at) {
			at = soon
		}
	}
	return d.setBelow(at, below)
}

// goOn reports whether a read or a write that ended with this error is to go on: the deadline that is noted has not
// passed.
func (d *deadline) goOn(err error, below func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expired = true
	if d.noted.Equal(d.below) || !d.noted.IsZero() && !time.Now().Before(d.noted) {
		return false
	}
	return d.renew(below) == nil
}

// Read reads until the deadline of reads.
func (c *connection) Read(b []byte) (n int, err error) {
	if err := c.reads.begin(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	for {
		n, err = c.Conn.Read(b)
		if n > 0 || err == nil || !c.reads.goOn(err, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write writes until the deadline of writes.
func (c *connection) Write(b []byte) (n int, err error) {
	if err := c.writes.begin(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	for {
		more, err := c.Conn.Write(b[n:])
		n += more
		if err == nil || !c.writes.goOn(err, c.Conn.SetWriteDeadline) {
			return n, err
		}
	}
}

// SetDeadline sets both deadlines.
func (c *connection) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// SetReadDeadline sets the one of reads, of those that wait already too.
func (c *connection) SetReadDeadline(at time.Time) error {
	return c.reads.set(at, c.Conn.SetReadDeadline)
}

// SetWriteDeadline sets the one of writes, of those that wait already too.
func (c *connection) SetWriteDeadline(at time.Time) error {
	return c.writes.set(at, c.Conn.SetWriteDeadline)
}
