// Package admin is the HTTP API of operators below /admin: the status of projections, dead letters, rebuilds, and the
// events themselves.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/verify"
)

// API answers operators:
//
//	GET  /admin/projections?projection=NAME                     the status of every projection, or of one
//	GET  /admin/dead-letters?projection=NAME&after=REF&limit=N  events that could not be folded, or are blocked; with
//	                                                            rows=building in rows that are being built
//	POST /admin/dead-letters/retry, /admin/dead-letters/skip    {"projection": NAME, "event": REF}, or a filter of event
//	POST /admin/cascades/retry                                  {"projection": NAME}
//	GET  /admin/rebuilds                                        which rows there are beside those that serve
//	POST /admin/rebuild                                         {"names": [MODEL or PROJECTION, …]}
//	POST /admin/rebuild/switch, …/abort, …/rollback             as /admin/rebuild
//	POST /admin/rebuild/accept                                  as /admin/rebuild
//	POST /admin/rebuild/verify                                  as /admin/rebuild, answered with lines: see VerifyLine
//	POST /admin/backup                                          {}, answered with a tar stream: see package backup
//	POST /admin/events/search                                   a search.Query, answered with a search.Page
type API struct {
	Folds   *projections.Set
	Source  eventlog.Source
	Backups *backup.Sender
	// Verifier is nil where nobody can ask for a verification.
	Verifier *verify.Verifier
	// SharedStore says that other servers may write to the store.
	SharedStore bool
	Stopping    func() bool // the server is to end
	Deciding    *Deciding
	Log         *slog.Logger
}

// Register adds the paths to a mux, each behind what admits readers or writers.
func (a *API) Register(mux *http.ServeMux, reads, writes func(http.Handler) http.Handler) {
	decides := func(h http.Handler) http.Handler { return writes(a.whereFolded(inItsTime(a.Deciding.guard(h)))) }
	mux.Handle("GET /admin/projections", reads(http.HandlerFunc(a.projections)))
	mux.Handle("GET /admin/dead-letters", reads(http.HandlerFunc(a.list)))
	mux.Handle("POST /admin/dead-letters/retry", decides(a.decide((*projection.Runner).Retry)))
	mux.Handle("POST /admin/dead-letters/skip", decides(a.decide((*projection.Runner).Skip)))
	mux.Handle("POST /admin/cascades/retry", decides(http.HandlerFunc(a.retryCascades)))
	mux.Handle("GET /admin/rebuilds", reads(http.HandlerFunc(a.rebuilds)))
	mux.Handle("POST /admin/rebuild", decides(a.rebuild(projections.Start)))
	mux.Handle("POST /admin/rebuild/switch", decides(a.rebuild(projections.Switch)))
	mux.Handle("POST /admin/rebuild/abort", decides(a.rebuild(projections.Abort)))
	mux.Handle("POST /admin/rebuild/rollback", decides(a.rebuild(projections.Rollback)))
	mux.Handle("POST /admin/rebuild/accept", decides(a.eachNamed("accept", a.accept)))
	if a.Verifier != nil {
		mux.Handle("POST /admin/rebuild/verify", writes(http.HandlerFunc(a.verify)))
	}
	mux.Handle("POST /admin/backup", writes(http.HandlerFunc(a.backup)))
	a.RegisterEvents(mux, writes)
}

// inItsTime lets a decision take as long as it does: the answer is short, and for one who may decide.
func inItsTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a server that has none needs no more time
		next.ServeHTTP(w, r)
	})
}

// whereFolded refuses what needs a server that folds.
func (a *API) whereFolded(next http.Handler) http.Handler {
	if !a.Folds.FoldsNothing() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.FoldsNothing("This server folds nothing (--fold=off): send the command to a server that folds the rows, " +
			"with --url.").Write(w)
	})
}

// ProjectionsAnswer is the body of /admin/projections.
type ProjectionsAnswer struct {
	Projections []projection.Status `json:"projections"`
}

func (a *API) projections(w http.ResponseWriter, r *http.Request) {
	of, bad := chosen(a.Folds, r.URL.Query().Get("projection"))
	if bad != nil {
		bad.Write(w)
		return
	}
	list, err := a.Folds.Statuses(r.Context(), of...)
	if err != nil {
		a.Log.DebugContext(r.Context(), "projections are not ready", "why", err)
	}
	problem.WriteJSON(w, http.StatusOK, "application/json", ProjectionsAnswer{list})
}

// DeadLetterList is the body of /admin/dead-letters.
type DeadLetterList struct {
	DeadLetters []DeadLetter `json:"deadLetters"`
	// FailedCascades are in the first page of rows that serve: rows of which some copies could not follow a change.
	FailedCascades []FailedCascade `json:"failedCascades,omitempty"`
	// Cascades is there too: how many rows have changed and are yet to be followed by copies of them. Any of these
	// may have failed before, and fail again.
	Cascades int `json:"cascades,omitempty"`
	// More says that there are dead letters after these.
	More bool `json:"more,omitempty"`
}

// DeadLetter is an event that a projection could not fold, or that waits behind such an event.
type DeadLetter struct {
	Projection string `json:"projection"`
	Ref        string `json:"event"` // names it to retry and skip
	projection.DeadLetter
}

// Bounds of a list of events, and of the name of one.
const (
	usualDeadLetters = 100
	MostDeadLetters  = 1000
	longestRef       = 512
)

func (a *API) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := usualDeadLetters
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MostDeadLetters {
			problem.BadRequest(fmt.Sprintf("limit must be a number from 1 to %d.", MostDeadLetters)).Write(w)
			return
		}
		limit = n
	}
	if len(q.Get("after")) > longestRef {
		longRef().Write(w)
		return
	}
	building := q.Get("rows") == "building"
	if rows := q.Get("rows"); rows != "" && !building {
		problem.BadRequest("rows must be building, or left out for those that serve.").Write(w)
		return
	}
	of, bad := chosen(a.Folds, q.Get("projection"))
	if bad != nil {
		bad.Write(w)
		return
	}
	if q.Get("projection") == "" && q.Get("after") != "" {
		problem.BadRequest("after needs a projection: it names an event in the list of one.").Write(w)
		return
	}
	all := DeadLetterList{DeadLetters: []DeadLetter{}}
	if q.Get("after") == "" && !building { // copies in rows that are being built are on no list
		if bad := a.addCascades(r.Context(), of, &all); bad != nil {
			bad.Write(w)
			return
		}
	}
	for _, one := range of {
		listed := one.DeadLetters
		if building {
			listed = one.Decisions().BuildDeadLetters
		}
		letters, more, err := upTo(r.Context(), limit-len(all.DeadLetters), q.Get("after"), listed)
		if err != nil {
			unlisted(r.Context(), a.Log, one.Name, err).Write(w)
			return
		}
		for _, e := range letters {
			all.DeadLetters = append(all.DeadLetters, DeadLetter{one.Name, e.Ref, e})
		}
		if all.More = more; more {
			break
		}
	}
	problem.WriteJSON(w, http.StatusOK, "application/json", all)
}

// upTo lists dead letters of a projection, n at most, and reports whether it has more.
func upTo(ctx context.Context, n int, after string,
	listed func(ctx context.Context, after string, limit int) ([]projection.DeadLetter, error),
) (letters []projection.DeadLetter, more bool, err error) {
	if n > 0 {
		if letters, err = listed(ctx, after, n); err != nil || len(letters) < n {
			return letters, false, err
		}
		after = letters[n-1].Ref
	}
	next, err := listed(ctx, after, 1)
	return letters, len(next) > 0, err
}

// DecisionRequest names a dead letter of a projection, or chooses several.
type DecisionRequest struct {
	Projection string `json:"projection"`
	Event      string `json:"event,omitempty"`
	Filter
}

// decide handles requests to do something with one event, or with those that a filter chooses.
func (a *API) decide(do projections.Decision) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, bad := readDecision(w, r)
		if bad != nil {
			bad.Write(w)
			return
		}
		one := a.Folds.Find(m.Projection)
		if one == nil {
			noProjection(m.Projection).Write(w)
			return
		}
		if m.given() {
			a.bulk(w, r, one, &m.Filter, do)
			return
		}
		ctx, done := a.Deciding.outlasting(r.Context())
		defer done()
		if err := one.Decisions().Resolve(ctx, m.Event, do); err != nil {
			a.failed(ctx, one.Name, err).Write(w)
			return
		}
		one.Decisions().Follow(ctx, m.Event)
		a.Log.InfoContext(ctx, "dead letter decided", "how", r.URL.Path, "projection", one.Name, "event", m.Event)
		w.WriteHeader(http.StatusNoContent)
	})
}

func readDecision(w http.ResponseWriter, r *http.Request) (m DecisionRequest, bad *problem.Problem) {
	bad, err := readJSON(w, r, &m, usualBody)
	if bad != nil {
		return m, bad
	}
	if err != nil || m.Projection == "" || m.given() == (m.Event != "") {
		return m, problem.BadRequest(`Send {"projection": NAME, "event": REF}, as the list of dead letters names them; or, ` +
			`in place of ` +
			`event, "all": true, "reason": TEXT or "type": TYPE.`)
	}
	if len(m.Event) > longestRef || len(m.After) > longestRef {
		return m, longRef()
	}
	return m, nil
}

// usualBody is how many bytes most requests have at most.
const usualBody = 64 << 10

// readJSON wants JSON by its name, which no page of another site can send unasked. err is of the JSON itself, where
// all of the request has come.
func readJSON(w http.ResponseWriter, r *http.Request, m any, most int64) (bad *problem.Problem, err error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return problem.BadRequest("Send JSON with the Content-Type application/json."), nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return unread(err), nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return nil, d.Decode(m)
}

// unread is the answer to a request that does not come whole. It does not repeat what the network says, which names
// addresses.
func unread(err error) *problem.Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.TooLarge(fmt.Sprintf("Nothing is done, as the request is too large: send %d bytes at most.",
			tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem.TooSlow("Nothing is done, as the request comes too slowly: send it again.")
	}
	return problem.BadRequest("Nothing is done, as the request did not come whole: send it again.")
}

// longRef is the answer where an event is named that cannot be one. It does not repeat the name.
func longRef() *problem.Problem {
	return problem.BadRequest(fmt.Sprintf("The name of an event has at most %d bytes.", longestRef))
}

// chosen is the projection of the name alone, or all where none is named.
func chosen(folds *projections.Set, name string) ([]*projections.Running, *problem.Problem) {
	if name == "" {
		return folds.All, nil
	}
	one := folds.Find(name)
	if one == nil {
		return nil, noProjection(name)
	}
	return []*projections.Running{one}, nil
}

func noProjection(name string) *problem.Problem {
	return problem.NotFound(fmt.Sprintf("There is no projection %.100q", name) + "; GET /admin/projections lists them.")
}

// unlisted is the answer where the dead letters of a projection, or its failed cascades, could not be read.
func unlisted(ctx context.Context, log *slog.Logger, name string, err error) *problem.Problem {
	if errors.Is(err, projection.ErrInvalidRef) {
		return problem.BadRequest(err.Error() + ".")
	}
	log.WarnContext(ctx, "dead letters could not be listed", "projection", name, "error", err)
	return problem.FailedAgain(fmt.Sprintf("The dead letters of %s could not be listed: %v", name, err))
}

// failed is the answer to a request that the runner has not carried out.
func (a *API) failed(ctx context.Context, name string, err error) *problem.Problem {
	if errors.Is(err, projection.ErrNoDeadLetter) {
		return problem.NotFound(err.Error() + ".")
	}
	if errors.Is(err, projection.ErrInvalidRef) {
		return problem.BadRequest(err.Error() + ".")
	}
	a.Log.WarnContext(ctx, "a dead letter could not be retried or skipped", "projection", name, "error", err)
	if errors.Is(context.Cause(ctx), errGivenUp) {
		return problem.Unavailable(err.Error() + ". It may be done: if it is not when the server has started again, or at " +
			"the server that follows it, send this again.")
	}
	return problem.FailedAgain(err.Error())
}
