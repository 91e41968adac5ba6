package graphqlhttp

import (
	"net/http"
	"time"
)

// sending is an answer on its way to a client who may be slow. What the server and the network keep for themselves takes small
// answers at once; a large one is held in memory until the client has read most of it, so that it has to go on reading.
type sending struct {
	w        http.ResponseWriter
	patience time.Duration
	timed    bool      // there is a deadline on the connection
	last     time.Time // when the answer is to be sent at the latest
}

const (
	// sendBytes is how much a client has to receive within its patience.
	sendBytes = 64 << 10
	// longestSend is how long it may take to receive a whole answer.
	longestSend = time.Minute
)

// send writes a part of the answer.
func (s *sending) send(part []byte) error {
	for len(part) > sendBytes {
		if err := s.write(part[:sendBytes]); err != nil {
			return err
		}
		part = part[sendBytes:]
	}
	if s.timed {
		return s.write(part)
	}
	_, err := s.w.Write(part)
	return err
}

func (s *sending) write(part []byte) error {
	now := time.Now()
	if !s.timed {
		s.timed, s.last = true, now.Add(longestSend)
	}
	deadline := now.Add(s.patience)
	if s.last.Before(deadline) {
		deadline = s.last
	}
	// A server that cannot set deadlines has those of its own.
	_ = http.NewResponseController(s.w).SetWriteDeadline(deadline)
	_, err := s.w.Write(part)
	return err
}

// end takes the deadline away for the answers that follow on the connection.
func (s *sending) end() {
	if s.timed {
		_ = http.NewResponseController(s.w).SetWriteDeadline(time.Time{}) // see write
	}
}
