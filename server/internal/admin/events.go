package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/search"
)

// RegisterEvents adds the paths of the events themselves to a mux. They hold all that the rows do and more, so that
// nobody reads them who may not write.
func (a *API) RegisterEvents(mux *http.ServeMux, writes func(http.Handler) http.Handler) {
	mux.Handle("POST /admin/events/search", writes(http.HandlerFunc(a.searchEvents)))
}

// longestQuery is how many bytes a query of events has: it may hold two positions of a thousand partitions.
const longestQuery = 1 << 20

func (a *API) searchEvents(w http.ResponseWriter, r *http.Request) {
	var q search.Query
	bad, err := readJSON(w, r, &q, longestQuery)
	switch {
	case bad != nil:
	case err != nil:
		bad = problem.BadRequest(`Send {}, or what the events are to have: {"subject": TEXT, "types": [TYPE, …], ` +
			`"source": TEXT, "id": TEXT, "after": TIME, "before": TIME, "from": {PARTITION: OFFSET}, ` +
			`"upTo": {PARTITION: OFFSET}, "limit": N}.`)
	case q.Limit < 0 || q.Limit > search.MostEvents:
		bad = problem.BadRequest(fmt.Sprintf("limit must be a number from 1 to %d.", search.MostEvents))
	}
	if bad != nil {
		bad.Write(w)
		return
	}
	ctx := r.Context()
	page, err := search.Run(ctx, a.Source, &q)
	switch {
	case errors.Is(err, search.ErrNoPartition):
		problem.NotFound(err.Error() + ".").Write(w)
	case err != nil:
		if ctx.Err() == nil && !errors.Is(err, eventlog.ErrClosed) { // else it is the caller or the server that ends
			a.Log.ErrorContext(ctx, "events could not be searched", "error", err)
		}
		problem.UnreadableEvents(err.Error()).Write(w)
	default:
		writePage(w, page)
	}
}

// writePage sends the events as they are: < and > in their texts are not escaped, which would make them longer.
func writePage(w http.ResponseWriter, page *search.Page) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(page); err != nil {
		panic(err) // texts, numbers and events that are JSON always have a JSON form
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes()) // a client that is gone needs no answer
}
