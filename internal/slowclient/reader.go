package slowclient

import (
	"io"
	"net/http"
	"time"
)

// Reader is a body on its way from a client. What comes with the head of the request is there at once. Whoever has more
// to send takes memory until all of it has come, and so has to go on sending.
//
// A body that does not come to its end leaves its last deadline on the connection, for what the server reads of the
// rest before it answers; the server takes it away before the next request.
type Reader struct {
	From     io.Reader
	Answer   http.ResponseWriter // to the request
	Patience time.Duration       // with a client who does not send
	Reserved bool                // memory for the whole body is taken before any of it has come

	begun bool      // something was read
	left  int       // bytes that are to come until the deadline on the connection
	last  time.Time // when the body is to have come at the latest; zero where there is no deadline yet
}

// Read reads a part of the body. An error that is os.ErrDeadlineExceeded says that the client has sent too slowly.
func (r *Reader) Read(part []byte) (n int, err error) {
	switch {
	case r.left <= 0 && (r.begun || r.Reserved):
		r.extend()
	case !r.begun && r.late():
		r.last = time.Time{}
		r.extend()
	}
	n, err = r.From.Read(part)
	r.begun, r.left = true, r.left-n
	if err == io.EOF && !r.last.IsZero() {
		r.setDeadline(time.Time{})
	}
	return n, err
}

// late reports whether the client had to wait half of the time that it has before anybody read: it may have sent all.
func (r *Reader) late() bool { return !r.last.IsZero() && time.Until(r.last) < longest-r.Patience/2 }

// extend gives the client time to send another piece.
func (r *Reader) extend() {
	now := time.Now()
	if r.last.IsZero() {
		r.last = now.Add(longest)
	}
	deadline := now.Add(r.Patience)
	if r.last.Before(deadline) {
		deadline = r.last
	}
	r.left = pieceBytes
	r.setDeadline(deadline)
}

// setDeadline sets that of the connection. A server that cannot has deadlines of its own.
func (r *Reader) setDeadline(at time.Time) {
	_ = http.NewResponseController(r.Answer).SetReadDeadline(at)
}
