package ingest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/foldql/foldql/eventlog"
)

// problem is a body of RFC 9457. Its type says for good which kind of problem it is; the members after detail name the
// event that it is about, if it is about one.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`

	Event  *int   `json:"event,omitempty"` // index in the request, from 0
	ID     string `json:"id,omitempty"`
	Field  string `json:"field,omitempty"` // an attribute, or a path that begins with "data"
	Reason string `json:"reason,omitempty"`

	// NothingDone: of a status of 500 or more, none of the events is appended; else they may have been.
	NothingDone bool `json:"nothingDone,omitempty"`

	cause error // for the log
}

func (p *problem) write(w http.ResponseWriter) { write(w, p.Status, "application/problem+json", p) }

const urn = "urn:foldql:problem:"

func methodNotAllowed() *problem {
	return &problem{
		Type: urn + "method-not-allowed", Title: "Method not allowed", Status: http.StatusMethodNotAllowed,
		Detail: "Events are sent with POST.",
	}
}

func unsupportedMedia(reason string) *problem {
	return &problem{
		Type: urn + "unsupported-media-type", Title: "Unsupported media type", Status: http.StatusUnsupportedMediaType,
		Detail: "Send one event as application/cloudevents+json, several as application/cloudevents-batch+json, or one " +
			"with ce- headers and its data as application/json.",
		Reason: reason,
	}
}

func bodyTooLarge(limit int64) *problem {
	return &problem{
		Type: urn + "request-too-large", Title: "Request too large", Status: http.StatusRequestEntityTooLarge,
		Detail: fmt.Sprintf("A request may have %d bytes: send the events in several.", limit),
	}
}

func incomplete() *problem {
	return &problem{
		Type: urn + "incomplete-request", Title: "Incomplete request", Status: http.StatusBadRequest,
		Detail: "The body ended early or could not be read.",
	}
}

func tooSlow() *problem {
	return &problem{
		Type: urn + "request-timeout", Title: "Request timeout", Status: http.StatusRequestTimeout,
		Detail: "The body comes too slowly. Nothing was appended: send the events again, or in several requests.",
	}
}

func invalidBatch(reason string) *problem {
	return &problem{
		Type: urn + "invalid-batch", Title: "Invalid batch", Status: http.StatusBadRequest,
		Detail: "The body is not a JSON array of events: " + reason + ".", Reason: reason,
	}
}

// longest is how much of a name of the input an answer repeats, in bytes.
const longest = 128

// cut shortens a name of the input.
func cut(name string) string {
	if len(name) <= longest {
		return name
	}
	return strings.ToValidUTF8(name[:longest], "") + "…"
}

// ofEvent names the event of a problem.
func (p *problem) ofEvent(index int, id, field, reason string) *problem {
	id, field = cut(id), cut(field)
	who := fmt.Sprintf("Event %d", index)
	if id != "" {
		who += fmt.Sprintf(" (id %q)", id)
	}
	if field != "" {
		who += ", " + field
	}
	p.Event, p.ID, p.Field, p.Reason = &index, id, field, reason
	p.Detail = who + ": " + reason
	if !strings.HasSuffix(reason, "?") {
		p.Detail += "."
	}
	return p
}

func invalidEvent(index int, id, field, reason string) *problem {
	p := &problem{Type: urn + "invalid-event", Title: "Invalid event", Status: http.StatusBadRequest}
	return p.ofEvent(index, id, field, reason)
}

func eventTooLarge(index int, id, reason string) *problem {
	p := &problem{Type: urn + "event-too-large", Title: "Event too large", Status: http.StatusRequestEntityTooLarge}
	return p.ofEvent(index, id, "", reason)
}

func conflicting(c *eventlog.ConflictError) *problem {
	p := &problem{Type: urn + "conflict", Title: "Conflicting event", Status: http.StatusConflict}
	return p.ofEvent(c.Index, c.ID, "id", "an event of this source and id exists with other content")
}

func mismatch() *problem {
	return &problem{
		Type: urn + "log-mismatch", Title: "Log mismatch", Status: http.StatusServiceUnavailable, NothingDone: true,
		Detail: "The log is not the one that the rows are folded from. Nothing was appended: keep the events, " +
			"and send them when an operator has restored the log or accepted it.",
	}
}

func unavailable() *problem {
	return &problem{
		Type: urn + "unavailable", Title: "Unavailable", Status: http.StatusServiceUnavailable,
		Detail: "The events may or may not have been appended: send them again.",
	}
}

func insufficientStorage() *problem {
	return &problem{
		Type: urn + "insufficient-storage", Title: "Insufficient storage", Status: http.StatusInsufficientStorage,
		Detail: "The disk of the event log is full. " + maybeTaken + "when there is space.",
	}
}

func unwritable() *problem {
	p := unavailable()
	p.Detail = "The event log cannot be written, and the log of the server says why. " + maybeTaken + "when it can be."
	return p
}

// What problems say of events, before when to send these again.
const (
	maybeTaken   = "The events may or may not have been appended: send them again "
	nothingTaken = "Nothing was appended: send the events again "
)

// unlessTaken says that nothing was appended, where the error of the log does.
func (p *problem) unlessTaken(err error) *problem {
	if errors.Is(err, eventlog.ErrNothingAppended) {
		p.NothingDone, p.Detail = true, strings.Replace(p.Detail, maybeTaken, nothingTaken, 1)
	}
	return p
}

func internal(cause error) *problem {
	return &problem{
		Type: urn + "internal", Title: "Internal error", Status: http.StatusInternalServerError,
		Detail: "The events may or may not have been appended: send them again.", cause: cause,
	}
}
