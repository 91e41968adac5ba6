package httpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/internal/slowclient"
)

// Handler gives out the events of a source.
type Handler struct {
	Source eventlog.Source
	// Decisions are given out too; a Handler without any has no ListDecisions and WaitForDecisions.
	Decisions Decisions
	Logger    *slog.Logger // told what clients are not: the causes of failures
	// Stopping reports whether the server ends, and nobody is to wait any longer. Nil is for one that never does.
	Stopping func() bool

	given given
}

// requestError is what is wrong with a request.
type requestError struct {
	status      int
	kind, title string
	detail      string
}

// Error implements error.
func (e *requestError) Error() string { return e.detail }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, "bad-request", "Bad request", fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &requestError{http.StatusNotFound, "not-found", "Not found", fmt.Sprintf(format, args...)}
}

// Partitions answers which partitions there are, or with the one that is asked for, if there is one of that name.
func (h *Handler) Partitions(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func(ctx context.Context, q url.Values) (any, error) {
		names, err := h.Source.Partitions(ctx)
		if q.Has("partition") {
			one := q.Get("partition")
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != one })
		}
		all := partitionsAnswer{Partitions: make([]partition, len(names))}
		for i := 0; err == nil && i < len(names); i++ {
			p := &all.Partitions[i]
			p.Name = names[i]
			if p.Incarnation, err = eventlog.IncarnationOf(ctx, h.Source, p.Name); err == nil {
				p.Head, err = h.Source.Head(ctx, p.Name)
			}
		}
		return all, err
	})
}

// Events answers with events that follow an offset.
func (h *Handler) Events(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func(ctx context.Context, q url.Values) (any, error) {
		after, err := strconv.ParseUint(q.Get("after"), 10, 64)
		if err != nil {
			return nil, badRequest("after is %.40q, and must be an offset, 0 or more.", q.Get("after"))
		}
		limit, err := strconv.Atoi(q.Get("limit"))
		if err != nil || limit < 1 || limit > maxEvents {
			return nil, badRequest("limit is %.40q, and must be 1 to %d.", q.Get("limit"), maxEvents)
		}
		name, k := q.Get("partition"), known{}
		if err := readKnown(q, &k); err != nil {
			return nil, err
		}
		if err := h.named(ctx, name, k != known{}); err != nil {
			return nil, err
		}
		return h.events(ctx, name, after, limit, k)
	})
}

// events reads, and compares what the reader knows with the partition that it is then: one that is replaced in between
// is noticed.
func (h *Handler) events(ctx context.Context, name string, after uint64, limit int, k known) (
	a eventsAnswer, err error,
) {
	events, err := h.read(ctx, name, after, limit)
	a = page(events)
	if err == nil && len(events) == 0 {
		a.Through, err = h.emptyThrough(ctx, name, after)
	}
	incarnation, other := h.stillIs(ctx, name, k)
	if err := firstOf(err, other); err != nil {
		return a, err
	}
	through := uint64(0)
	if a.Through > after { // and not where the reader has come to by its own word
		through = a.Through
	}
	a.Known = knownOf(incarnation, events[:len(a.Events)], through)
	h.given.add(name, a.Known)
	return a, nil
}

// readKnown reads what the reader knows, where it sends that.
func readKnown(q url.Values, to any) error {
	text := q.Get("known")
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return badRequest("known must be as answers to %s have it.", EventsPath)
	}
	return nil
}

// page is as many of the events as an answer has.
func page(events []eventlog.Event) (a eventsAnswer) {
	a.Events = []placed{}
	size := 0
	for i := range events {
		p := placedOf(&events[i])
		if size += p.size(); i > 0 && size > answerBytes {
			break
		}
		a.Events = append(a.Events, p)
	}
	return a
}

// Wait answers when there is something to read, or after the time that the client is ready to wait. Its parameters are
// in the address, or in the body of a POST where there are many partitions.
func (h *Handler) Wait(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func(ctx context.Context, q url.Values) (any, error) {
		var after eventlog.Offsets
		if err := json.Unmarshal([]byte(q.Get("after")), &after); err != nil {
			return nil, badRequest(`after must be the offsets by partition, such as {"0":17}.`)
		}
		most, err := waitSeconds(q)
		if err != nil {
			return nil, err
		}
		var all map[string]known
		if err := readKnown(q, &all); err != nil {
			return nil, err
		}
		for name, k := range all {
			if err := h.named(ctx, name, true); err != nil {
				return nil, err
			}
			if _, err := h.stillIs(ctx, name, k); err != nil {
				return nil, err
			}
		}
		for name, offset := range after {
			if err := h.goesOn(ctx, name, offset); err != nil {
				return nil, err
			}
		}
		return h.wait(ctx, after, most)
	})
}

// wait has the source wait once: one that is elsewhere gives up a connection with each wait that is broken off.
func (h *Handler) wait(ctx context.Context, after eventlog.Offsets, most time.Duration) (a waitAnswer, err error) {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if h.Stopping != nil {
		go h.cancelWhenStopping(waiting, cancel)
	}
	err = h.Source.Wait(waiting, after)
	switch {
	case err == nil:
		return waitAnswer{More: true}, nil
	case errors.Is(err, io.EOF):
		return waitAnswer{Ended: true}, nil
	case ctx.Err() == nil && waiting.Err() != nil: // nothing has come
		return a, nil
	}
	return a, err
}

// cancelWhenStopping ends a wait when the server ends, and returns when the wait has ended. It looks for the first time
// after a while: whoever is answered asks again, as long as the server drains.
func (h *Handler) cancelWhenStopping(waiting context.Context, cancel context.CancelFunc) {
	defer cancel()
	for backoff.Wait(waiting, look) == nil {
		if h.Stopping() {
			return
		}
	}
}

// problem is the body of an answer to a request that failed (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Partition is the one that is another, or has forgotten events.
	Partition string `json:"partition,omitempty"`
	After     uint64 `json:"after,omitempty"` // of events that are forgotten: the offset that they follow
	First     uint64 `json:"first,omitempty"` // of the same: the first offset that there is
}

// problem tells clients what they can do about an error, and nothing of its insides.
func (h *Handler) problem(ctx context.Context, err error) *problem {
	var bad *requestError
	lost, replaced := eventlog.ForgottenIn(err), replacedIn(err)
	switch {
	case errors.As(err, &bad):
		return &problem{Type: urn + bad.kind, Title: bad.title, Status: bad.status, Detail: bad.detail}
	case lost != nil:
		return &problem{Type: forgottenProblem, Title: "Forgotten events", Status: http.StatusGone,
			Detail: "The events that follow the offset are forgotten.", Partition: lost.Partition, After: lost.After,
			First: lost.First}
	case replaced != nil:
		return &problem{Type: replacedProblem, Title: "Replaced events", Status: http.StatusConflict,
			Detail: replaced.Reason, Partition: replaced.Partition}
	case ctx.Err() != nil || errors.Is(err, eventlog.ErrClosed):
		return &problem{Type: urn + "unavailable", Title: "Unavailable", Status: http.StatusServiceUnavailable,
			Detail: "The server stops: ask again, or another one."}
	}
	h.Logger.ErrorContext(ctx, "events were not given out", "error", err)
	return &problem{Type: urn + "unreadable-events", Title: "Unreadable events", Status: http.StatusServiceUnavailable,
		Detail: "The source of events does not answer: ask again, a second later. The log of the server has the cause."}
}

// parameters are those of a request: of the address, or of the body of a POST alone.
func parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		return r.URL.Query(), nil
	}
	bounded := *r // the server has to know the body of its own request
	bounded.Body = http.MaxBytesReader(w, r.Body, longestForm)
	bounded.URL = nil // else ParseForm fails where the address has no whole query
	if err := bounded.ParseForm(); err != nil {
		return nil, unread(err)
	}
	return bounded.PostForm, nil
}

// unread is what is wrong with a request whose form cannot be read. It does not repeat what the network says, which
// names addresses.
func unread(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &requestError{http.StatusRequestEntityTooLarge, "request-too-large", "Request too large",
			fmt.Sprintf("The body may have %d bytes.", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &requestError{http.StatusRequestTimeout, "request-timeout", "Request timeout",
			"The body comes too slowly: ask again."}
	}
	return badRequest("The body must be a whole form, of the Content-Type application/x-www-form-urlencoded.")
}

// answer answers a request with what make makes of its parameters.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, make func(context.Context, url.Values) (any, error)) {
	var body any
	q, err := parameters(w, r)
	if err == nil {
		body, err = make(r.Context(), q)
	}
	status, mediaType := http.StatusOK, "application/json"
	if err != nil {
		p := h.problem(r.Context(), err)
		body, status, mediaType = p, p.Status, "application/problem+json"
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // events stay as they are
	if err := encoder.Encode(body); err != nil {
		panic(err) // the data of an event that is not malformed are JSON
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	to := slowclient.Writer{To: w, Patience: patience, Longest: longestAnswer}
	_, _ = to.Write(text.Bytes()) // an error means that the client is gone: there is nobody to tell
}
