// Package problem makes the bodies of error answers outside of GraphQL (RFC 9457).
package problem

import (
	"encoding/json"
	"net/http"
)

// Problem is the body of an error answer outside of GraphQL (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// NothingDone: of a status of 500 or more, nothing of what the request asks for is done; else some may be.
	NothingDone bool `json:"nothingDone,omitempty"`
}

// Prefix is what the types of all problems begin with; what follows names the problem, and never changes.
const Prefix = "urn:foldql:problem:"

// Write sends the problem as the answer, with its status.
func (p *Problem) Write(w http.ResponseWriter) { WriteJSON(w, p.Status, "application/problem+json", p) }

// Unauthorized is the problem of a request without the write token, or with another.
func Unauthorized() *Problem {
	return &Problem{
		Type: Prefix + "unauthorized", Title: "Unauthorized", Status: http.StatusUnauthorized,
		Detail: `Send the write token of the server: "Authorization: Bearer TOKEN".`,
	}
}

// ForeignHost is the problem of a request to a host name that the server is not to be reached by.
func ForeignHost(detail string) *Problem {
	return &Problem{Type: Prefix + "foreign-host", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

// ForeignOrigin is the problem of a request of a page of another origin than those that may send any.
func ForeignOrigin(detail string) *Problem {
	return &Problem{Type: Prefix + "foreign-origin", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

// NotLocal is the problem of a request that needs the write token of a server without one, and does not come from this
// machine; why ends a sentence.
func NotLocal(why string) *Problem {
	return &Problem{
		Type: Prefix + "not-local", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Without a write token this is for requests that this machine sends by itself, and " + why +
			". Set a write token (FOLDQL_WRITE_TOKEN, or --write-token-file) and send it.",
	}
}

// NotWritable is the problem of a request to write to a server that admits no writers.
func NotWritable() *Problem {
	return &Problem{
		Type: Prefix + "not-writable", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Nobody writes to this server over HTTP.",
	}
}

// BadRequest is the problem of a request that is not as it should be.
func BadRequest(detail string) *Problem {
	return &Problem{Type: Prefix + "bad-request", Title: "Bad request", Status: http.StatusBadRequest, Detail: detail}
}

// TooLarge is the problem of a request that is larger than one may be.
func TooLarge(detail string) *Problem {
	return &Problem{
		Type: Prefix + "request-too-large", Title: "Request too large", Status: http.StatusRequestEntityTooLarge,
		Detail: detail,
	}
}

// TooSlow is the problem of a request that did not come in time.
func TooSlow(detail string) *Problem {
	return &Problem{
		Type: Prefix + "request-timeout", Title: "Request timeout", Status: http.StatusRequestTimeout, Detail: detail,
	}
}

// NotFound is the problem of a request for what is not there.
func NotFound(detail string) *Problem {
	return &Problem{Type: Prefix + "not-found", Title: "Not found", Status: http.StatusNotFound, Detail: detail}
}

// NoLog is the problem of events that are sent to a server which appends to no log.
func NoLog() *Problem {
	return NotFound("There is no log that this server could append events to: it reads them from a source " +
		"that takes none. Send them to where that source has them from.")
}

// FailedAgain is the problem of a request that cannot be carried out as things are, for the cause in the detail.
func FailedAgain(detail string) *Problem {
	return &Problem{Type: Prefix + "failed-again", Title: "Failed again", Status: http.StatusConflict, Detail: detail}
}

// FoldsNothing is the problem of a request to fold, to a server that only answers.
func FoldsNothing(detail string) *Problem {
	return &Problem{Type: Prefix + "folds-nothing", Title: "Folds nothing", Status: http.StatusConflict, Detail: detail}
}

// UnreadableEvents is the problem of a request for events that the source cannot deliver now.
func UnreadableEvents(detail string) *Problem {
	return &Problem{
		Type: Prefix + "unreadable-events", Title: "Unreadable events", Status: http.StatusServiceUnavailable, Detail: detail,
	}
}

// Overloaded is the problem of events for which there is no memory at the moment.
func Overloaded() *Problem {
	return &Problem{
		Type: Prefix + "overloaded", Title: "Overloaded", Status: http.StatusServiceUnavailable, NothingDone: true,
		Detail: "The server has as many large requests as it can take at a time: send the events again, a second later.",
	}
}

// Starting is the problem of any request before the store is open.
func Starting() *Problem {
	return &Problem{
		Type: Prefix + "starting", Title: "Starting", Status: http.StatusServiceUnavailable, NothingDone: true,
		Detail: "The server is opening its store: try again shortly.",
	}
}

// InsufficientStorage is the problem of a request for which a disk has no space.
func InsufficientStorage(detail string) *Problem {
	return &Problem{
		Type: Prefix + "insufficient-storage", Title: "Insufficient storage", Status: http.StatusInsufficientStorage,
		Detail: detail,
	}
}

// Unavailable is the problem of a request for which a disk cannot be written, or that comes while the server ends.
func Unavailable(detail string) *Problem {
	return &Problem{
		Type: Prefix + "unavailable", Title: "Unavailable", Status: http.StatusServiceUnavailable, Detail: detail,
	}
}

// InternalProblem is the problem of a request that failed for a cause which the client is not to see.
func InternalProblem() *Problem {
	return &Problem{
		Type: Prefix + "internal", Title: "Internal error", Status: http.StatusInternalServerError,
		Detail: "The cause is in the log of the server.",
	}
}

// WriteJSON sends a JSON body that nobody may keep.
func WriteJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings, numbers and times always have a JSON form
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone needs no answer
}
