package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strconv"

	"github.com/foldql/foldql/projection"
)

// admin answers those who see to the projections:
//
//	GET  /admin/projections                              how they are getting on
//	GET  /admin/events?projection=NAME&after=REF&limit=N the events set aside
//	POST /admin/events/retry, /admin/events/skip         {"projection": NAME, "event": REF}, or a filter for event
//	POST /admin/rebuild                                  {"names": [MODEL or PROJECTION, …]}
type admin struct {
	folds *folds
	log   *slog.Logger
}

func (a *admin) register(mux *http.ServeMux, reads, writes func(http.Handler) http.Handler) {
	mux.Handle("GET /admin/projections", reads(http.HandlerFunc(a.projections)))
	for _, path := range []string{"/admin/dead-letters", "/admin/events"} { // the second is the former name
		mux.Handle("GET "+path, reads(http.HandlerFunc(a.list)))
		mux.Handle("POST "+path+"/retry", writes(a.mend((*projection.Runner).Retry)))
		mux.Handle("POST "+path+"/skip", writes(a.mend((*projection.Runner).Skip)))
	}
	mux.Handle("POST /admin/rebuild", writes(http.HandlerFunc(a.rebuild)))
}

// projectionsAnswer is the body of /admin/projections.
type projectionsAnswer struct {
	Projections []projection.Status `json:"projections"`
}

func (a *admin) projections(w http.ResponseWriter, r *http.Request) {
	list, err := a.folds.statuses(r.Context())
	if err != nil {
		a.log.DebugContext(r.Context(), "projections are not ready", "why", err)
	}
	writeJSON(w, http.StatusOK, "application/json", projectionsAnswer{list})
}

// asideAnswer is the body of /admin/events.
type asideAnswer struct {
	Events []asideEvent `json:"events"`
}

// asideEvent is an event that a projection has set aside.
type asideEvent struct {
	Projection string `json:"projection"`
	Ref        string `json:"event"` // names it to retry and skip
	projection.DeadLetter
}

// Bounds of a list of events, and of the name of one.
const (
	usualAside = 100
	mostAside  = 1000
	longestRef = 512
)

func (a *admin) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := usualAside
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostAside {
			badRequest("limit must be a number from 1 to 1000.").write(w)
			return
		}
		limit = n
	}
	if len(q.Get("after")) > longestRef {
		longRef().write(w)
		return
	}
	of := a.folds.all
	if name := q.Get("projection"); name != "" {
		one := a.folds.find(name)
		if one == nil {
			a.noProjection(name).write(w)
			return
		}
		of = []*fold{one}
	} else if q.Get("after") != "" {
		badRequest("after needs a projection: it is a place in the list of one.").write(w)
		return
	}
	events := []asideEvent{}
	for _, one := range of {
		aside, err := one.DeadLetters(r.Context(), q.Get("after"), limit-len(events))
		if err != nil {
			a.failed(r.Context(), one.name, err).write(w)
			return
		}
		for _, e := range aside {
			events = append(events, asideEvent{one.name, e.Ref, e})
		}
		if len(events) == limit {
			break
		}
	}
	writeJSON(w, http.StatusOK, "application/json", asideAnswer{events})
}

// mendRequest names an event that a projection has set aside, or chooses several.
type mendRequest struct {
	Projection string `json:"projection"`
	Event      string `json:"event,omitempty"`
	filter
}

// mending is what can be done with an event that is set aside.
type mending func(*projection.Runner, context.Context, string) error

// mend handles requests to do something with one event, or with those that a filter chooses.
func (a *admin) mend(do mending) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, bad := readMend(w, r)
		if bad != nil {
			bad.write(w)
			return
		}
		one := a.folds.find(m.Projection)
		if one == nil {
			a.noProjection(m.Projection).write(w)
			return
		}
		if m.given() {
			a.bulk(w, r, one, &m.filter, do)
			return
		}
		// What has begun is finished, also when the caller goes away.
		if err := do(one.Runner, context.WithoutCancel(r.Context()), m.Event); err != nil {
			a.failed(r.Context(), one.name, err).write(w)
			return
		}
		one.decide(context.WithoutCancel(r.Context()), m.Event)
		a.log.InfoContext(r.Context(), "event mended", "how", r.URL.Path, "projection", one.name, "event", m.Event)
		w.WriteHeader(http.StatusNoContent)
	})
}

// readMend wants JSON by its name, which no page of another site can send unasked.
func readMend(w http.ResponseWriter, r *http.Request) (mendRequest, *problem) {
	var m mendRequest
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return m, badRequest("Send JSON with the Content-Type application/json.")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || m.Projection == "" || m.given() == (m.Event != "") {
		return m, badRequest(`Send {"projection": NAME, "event": REF}, as the list of events names them; or, in place of ` +
			`event, "all": true, "reason": TEXT or "type": TYPE.`)
	}
	if len(m.Event) > longestRef || len(m.After) > longestRef {
		return m, longRef()
	}
	return m, nil
}

// longRef is the answer where an event is named that cannot be one. It does not repeat the name.
func longRef() *problem {
	return badRequest(fmt.Sprintf("The name of an event has at most %d bytes.", longestRef))
}

func (a *admin) noProjection(name string) *problem {
	return notFound(fmt.Sprintf("There is no projection %.100q", name) + "; GET /admin/projections lists them.")
}

// failed is the answer to a request that the runner has not carried out.
func (a *admin) failed(ctx context.Context, name string, err error) *problem {
	if errors.Is(err, projection.ErrNoDeadLetter) {
		return notFound(err.Error() + ".")
	}
	if errors.Is(err, projection.ErrInvalidRef) {
		return badRequest(err.Error() + ".")
	}
	a.log.WarnContext(ctx, "not done with a set-aside event", "projection", name, "error", err)
	return failedAgain(err.Error())
}
