// Package slowclient sends answers to clients who may be slow, and reads what they send.
package slowclient

import (
	"cmp"
	"net/http"
	"time"
)

const (
	// pieceBytes is how much a client has to receive, or to send, within the patience.
	pieceBytes = 64 << 10
	// longest is how long it may take to receive a whole answer, unless the Writer says it, or to send the rest of a body.
	longest = time.Minute
)

// Writer is an answer on its way. What the server and the network keep for themselves takes small answers at once; a
// large one is held in memory until the client has read most of it, so that it has to go on reading. The deadline of
// the last part stays on the connection for what a compressor and the server still hold of the answer; the server takes
// it away before the next request.
type Writer struct {
	To       http.ResponseWriter
	Patience time.Duration // with a client who does not read
	Longest  time.Duration // that the whole answer may take, a minute where 0

	timed bool      // there is a deadline on the connection
	last  time.Time // when the answer is to be sent at the latest
}

// Write writes a part of the answer. Its error says that the client has gone, or has not read for too long.
func (s *Writer) Write(part []byte) (n int, err error) {
	n = len(part)
	for len(part) > pieceBytes {
		if err := s.write(part[:pieceBytes]); err != nil {
			return 0, err
		}
		part = part[pieceBytes:]
	}
	if s.timed {
		return n, s.write(part)
	}
	_, err = s.To.Write(part)
	return n, err
}

func (s *Writer) write(part []byte) error {
	now := time.Now()
	if !s.timed {
		s.timed, s.last = true, now.Add(cmp.Or(s.Longest, longest))
	}
	deadline := now.Add(s.Patience)
	if s.last.Before(deadline) {
		deadline = s.last
	}
	// A server that cannot set deadlines has those of its own.
	_ = http.NewResponseController(s.To).SetWriteDeadline(deadline)
	_, err := s.To.Write(part)
	return err
}
