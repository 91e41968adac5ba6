package limits_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/server/internal/limits"
)

// TestReadersDoNotKeepEventsOut: where readers hold all the memory that large requests share, one large request with
// events is let through at a time, and the next one when that has ended.
func TestReadersDoNotKeepEventsOut(t *testing.T) {
	const large = 1 << 20
	m := limits.Inflight{MemoryBudget: graphqlhttp.NewMemoryBudget(4 * large)}
	giveBack, ok := m.Reserve(4 * large)
	if !ok {
		t.Fatal("the readers get no memory")
	}
	inside, leave := make(chan bool), make(chan bool)
	h := m.Events(large, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside <- true
		<-leave
	}))
	send := func() (code int) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/events", strings.NewReader(strings.Repeat(" ", large))))
		return w.Code
	}
	ended := make(chan int)
	start := func() {
		go func() { ended <- send() }()
		<-inside
	}
	end := func() {
		leave <- true
		if code := <-ended; code != http.StatusOK {
			t.Errorf("status %d, want 200", code)
		}
	}
	for range 2 {
		start()
		if code := send(); code != http.StatusServiceUnavailable {
			t.Errorf("status %d of a second request at the same time, want 503", code)
		}
		end()
	}
	if n := m.Refused(); n != 2 {
		t.Errorf("%d requests are counted as refused, want 2", n)
	}
	giveBack()
	start() // within the memory
	start() // beyond it
	end()
	end()
}
