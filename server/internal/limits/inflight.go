package limits

import (
	"net/http"
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/internal/slowclient"
	"github.com/foldql/foldql/server/internal/problem"
)

// Inflight is what large requests take of memory, all together, for requests with events.
type Inflight struct {
	*graphqlhttp.MemoryBudget
	ReadTimeout time.Duration // in which a client has to send 64 KiB of a large request
}

// eventTimes is how many times its size a request with events takes until they are appended.
const eventTimes = 3

// smallEvents is the size of a request with events that takes nothing of the memory that large ones share.
const smallEvents = 64 << 10

// Events lets requests with events through while there is memory for them, and one at a time where there is none:
// whoever may read could otherwise keep those from writing who may. One that does not say how much it sends is taken
// for as large as it may be. Memory is taken before the body comes, so whoever does not send it loses the memory soon.
func (m Inflight) Events(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := min(r.ContentLength, most)
		if size < 0 {
			size = most
		}
		if size > smallEvents {
			giveBack, ok := m.Reserve(eventTimes * size)
			if !ok {
				w.Header().Set("Retry-After", "1")
				problem.Overloaded().Write(w)
				return
			}
			defer giveBack()
			r = m.sentInTime(w, r)
		}
		next.ServeHTTP(w, r)
	})
}

// sentInTime is the request, whose body cannot be read where the client is too slow.
func (m Inflight) sentInTime(w http.ResponseWriter, r *http.Request) *http.Request {
	timed := *r
	timed.Body = slowclient.Bound(r.Body, slowclient.Reader{Answer: w, Patience: m.ReadTimeout, Reserved: true})
	return &timed
}
