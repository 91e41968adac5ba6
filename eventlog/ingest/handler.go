// Package ingest takes events in over HTTP: POST of one CloudEvent in the structured or the binary mode, or of a batch.
//
// A request is answered when its events are on disk, with where each of them stands:
//
//	{"appended":[{"partition":"0","offset":17,"duplicate":false}]}
//
// 201 says that some event is new, 200 that all were there already. A batch is appended whole or not at all. Everything
// else is answered with problem details (RFC 9457) that name the event and the field. Who may send events is not
// decided here.
//
// Fields that a type does not declare are in the log and nowhere else, so a misspelt one would go by unseen. The answer
// has the first of them:
//
//	{"appended":[…],"undeclared":[{"type":"OrderPlaced","field":"data.totl","events":1}]}
package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// defaultMaxBody is how many bytes a request may have where nothing else is said.
const defaultMaxBody = 16 << 20

// Config configures a handler; the zero Config is ready.
type Config struct {
	MaxBodyBytes  int64 // bytes of a request, 16 MB where 0
	MaxEventBytes int   // bytes of one event, cloudevents.DefaultMaxSize where 0
	// TakeRetired takes events of retired types too, whose data are not looked at: those of a former log.
	TakeRetired bool
	// TakeUnknown takes events that only a newer program knows, whose data are not looked at: of types that are not
	// declared, and of versions of data behind the last, which are whole numbers. It is called with each once the log has
	// it; nil refuses them.
	TakeUnknown func(e *eventlog.Event)
	// UnknownFix is what to do about such an event where it is refused, as "fix: …"; "" leaves that out.
	UnknownFix string
	// Position returns a text that stands for where the events are, for the header PositionHeader; "" leaves that out.
	// Nil is for answers without it.
	Position func(ctx context.Context, at []eventlog.AppendResult) string
	Logger   *slog.Logger // told what callers are not: the causes of failures; slog.Default() where nil
}

// Handler returns the handler that appends to the log what is posted, after checking its data against the types.
func Handler(log eventlog.Log, types eventlog.Types, cfg Config) http.Handler {
	if cfg.MaxBodyBytes <= 0 {
		cfg.MaxBodyBytes = defaultMaxBody
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &handler{log: log, types: types, cfg: cfg, decoder: cloudevents.Decoder{MaxSize: cfg.MaxEventBytes}}
}

// PositionHeader is the header of an answer that says where the events are, for a query that is to see them.
const PositionHeader = "Foldql-Position"

type handler struct {
	log     eventlog.Log
	types   eventlog.Types
	cfg     Config
	decoder cloudevents.Decoder
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, others, bad := h.take(w, r)
	if bad != nil {
		if bad.cause != nil {
			h.cfg.Logger.ErrorContext(r.Context(), "events were not appended", "err", bad.cause)
		}
		bad.write(w)
		return
	}
	isNew := func(a eventlog.AppendResult) bool { return !a.Duplicate }
	status := http.StatusOK
	if slices.ContainsFunc(at, isNew) {
		status = http.StatusCreated
	}
	if h.cfg.Position != nil {
		if position := h.cfg.Position(r.Context(), at); position != "" {
			w.Header().Set(PositionHeader, position)
		}
	}
	write(w, status, "application/json", answer{Appended: places(at), Undeclared: others})
}

// answer is the body of an answer to events that were appended.
type answer struct {
	Appended   []place    `json:"appended"`
	Undeclared Undeclared `json:"undeclared,omitempty"`
}

type place struct {
	Partition string `json:"partition"`
	Offset    uint64 `json:"offset"`
	Duplicate bool   `json:"duplicate"`
}

func places(at []eventlog.AppendResult) []place {
	p := make([]place, len(at))
	for i, a := range at {
		p[i] = place(a)
	}
	return p
}

// take reads the events of the request, checks them and appends them.
func (h *handler) take(w http.ResponseWriter, r *http.Request) (at []eventlog.AppendResult, others Undeclared,
	bad *problem) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, nil, methodNotAllowed()
	}
	events, bad := h.read(w, r)
	if bad != nil {
		return nil, nil, bad
	}
	for i := range events {
		if r.Context().Err() != nil {
			return nil, nil, unavailable()
		}
		fields, bad := h.check(i, &events[i])
		if bad != nil {
			return nil, nil, bad
		}
		for _, field := range fields {
			others.Add(UndeclaredField{Type: events[i].Type, Field: "data." + field, Events: 1})
		}
	}
	at, err := h.log.Append(r.Context(), events)
	if err != nil {
		return nil, nil, notAppended(err)
	}
	for i := range events {
		if e := &events[i]; h.cfg.TakeUnknown != nil && h.isUnknown(e) {
			h.cfg.TakeUnknown(e)
		}
	}
	return at, others, nil
}

// isUnknown reports whether only a newer program knows the type of an event, or the version of its data.
func (h *handler) isUnknown(e *eventlog.Event) bool {
	declared, ok := h.types[e.Type]
	version, err := e.DataVersion()
	return !ok || err == nil && !declared.Retired && version > len(declared.Former)+1
}

// withFix is what is wrong with an event that only a newer program may know.
func (h *handler) withFix(reason string) string {
	if h.cfg.UnknownFix == "" {
		return reason
	}
	return reason + " (" + h.cfg.UnknownFix + ")"
}

// check holds the event to what its type declares, and returns fields of its data that the type does not.
func (h *handler) check(i int, e *eventlog.Event) (fields []string, bad *problem) {
	if h.cfg.TakeUnknown != nil && h.isUnknown(e) {
		return nil, checkVersion(i, e)
	}
	declared, ok := h.types[e.Type]
	if !ok {
		return nil, invalidEvent(i, e.ID, "type", h.withFix(undeclaredType(e.Type, h.types)))
	}
	switch {
	case declared.Retired && h.cfg.TakeRetired:
		return nil, nil
	case declared.Retired:
		return nil, invalidEvent(i, e.ID, "type", "the event type "+e.Type+" is retired: the log keeps its events, and "+
			"takes no more of them")
	}
	if bad := checkVersion(i, e); bad != nil {
		return nil, bad
	}
	fields, err := declared.CheckEvent(e)
	if err != nil {
		return nil, h.unfit(i, e, err)
	}
	return fields, nil
}

// unfit says why the data of an event are not what its type declares.
func (h *handler) unfit(i int, e *eventlog.Event, err error) *problem {
	var field *eventlog.FieldError
	var unknown *eventlog.UnknownVersionError
	switch {
	case errors.As(err, &unknown):
		return invalidEvent(i, e.ID, eventlog.VersionAttribute, h.withFix(unknown.Error()))
	case !errors.As(err, &field):
		return invalidEvent(i, e.ID, "data", "the data do not fit the type")
	case field.Field == "":
		return invalidEvent(i, e.ID, "data", field.Reason)
	}
	return invalidEvent(i, e.ID, "data."+field.Field, field.Reason)
}

// checkVersion fails where the version of the data is none in any program.
func checkVersion(i int, e *eventlog.Event) *problem {
	if _, err := e.DataVersion(); err != nil {
		return invalidEvent(i, e.ID, eventlog.VersionAttribute, err.Error())
	}
	return nil
}

// notAppended tells callers what they can do about an error of the log, and nothing of its insides.
func notAppended(err error) *problem {
	var conflict *eventlog.ConflictError
	switch {
	case errors.As(err, &conflict):
		return conflicting(conflict)
	case errors.Is(err, eventlog.ErrFull):
		return insufficientStorage().unlessTaken(err)
	case errors.Is(err, eventlog.ErrUnwritable):
		return unwritable().unlessTaken(err)
	case errors.Is(err, eventlog.ErrMismatch):
		return mismatch()
	case errors.Is(err, eventlog.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable()
	}
	return internal(err)
}

// write sends a JSON body.
func write(w http.ResponseWriter, status int, mediaType string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(text) // an error means that the caller is gone: there is nobody to tell
}
