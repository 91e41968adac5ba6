package front

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// StatusPath is where the state is read: as JSON, and as a stream of events (text/event-stream), one for each change.
const StatusPath = "/dev/status"

// status answers with the state.
func (f *front) status(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch {
	case !ours(r):
		http.Error(w, "what fails while a project is developed is for this machine alone", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "the state is read with GET", http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		f.stream(w, r)
	default:
		state, _ := f.board.State()
		header.Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(state) // an error means that the client has gone
	}
}

// stream sends the state, and each change of it, until the client goes.
func (f *front) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		state, changed := f.board.State()
		text, err := json.Marshal(state)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "retry: 1000\ndata: %s\n\n", text); err != nil || out.Flush() != nil {
			return
		}
		for same := true; same; {
			select {
			case <-changed:
			case <-r.Context().Done():
				return
			}
			var now State
			now, changed = f.board.State()
			same = now == state
		}
	}
}
