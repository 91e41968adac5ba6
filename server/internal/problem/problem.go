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
}

const Prefix = "urn:foldql:problem:"

func (p *Problem) Write(w http.ResponseWriter) { WriteJSON(w, p.Status, "application/problem+json", p) }

func Unauthorized() *Problem {
	return &Problem{
		Type: Prefix + "unauthorized", Title: "Unauthorized", Status: http.StatusUnauthorized,
		Detail: `Send the write token of the server: "Authorization: Bearer TOKEN".`,
	}
}

func ForeignHost(detail string) *Problem {
	return &Problem{Type: Prefix + "foreign-host", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

func ForeignOrigin(detail string) *Problem {
	return &Problem{Type: Prefix + "foreign-origin", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

func NotLocal(why string) *Problem {
	return &Problem{
		Type: Prefix + "not-local", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Without a write token this is for requests that this machine sends by itself, and " + why +
			". Set a write token (FOLDQL_WRITE_TOKEN, or --write-token-file) and send it.",
	}
}

func NotWritable() *Problem {
	return &Problem{
		Type: Prefix + "not-writable", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Nobody writes to this server over HTTP.",
	}
}

func BadRequest(detail string) *Problem {
	return &Problem{Type: Prefix + "bad-request", Title: "Bad request", Status: http.StatusBadRequest, Detail: detail}
}

func NotFound(detail string) *Problem {
	return &Problem{Type: Prefix + "not-found", Title: "Not found", Status: http.StatusNotFound, Detail: detail}
}

func NoLog() *Problem {
	return NotFound("There is no log that this server could append events to: it reads them from a source " +
		"that takes none. Send them to where that source has them from.")
}

func FailedAgain(detail string) *Problem {
	return &Problem{Type: Prefix + "failed-again", Title: "Failed again", Status: http.StatusConflict, Detail: detail}
}

func FoldsNothing(detail string) *Problem {
	return &Problem{Type: Prefix + "folds-nothing", Title: "Folds nothing", Status: http.StatusConflict, Detail: detail}
}

func UnreadableEvents(detail string) *Problem {
	return &Problem{
		Type: Prefix + "unreadable-events", Title: "Unreadable events", Status: http.StatusServiceUnavailable, Detail: detail,
	}
}

func Overloaded() *Problem {
	return &Problem{
		Type: Prefix + "overloaded", Title: "Overloaded", Status: http.StatusServiceUnavailable,
		Detail: "The server has as many large requests as it can take at a time: send the events again, a second later.",
	}
}

func Starting() *Problem {
	return &Problem{
		Type: Prefix + "starting", Title: "Starting", Status: http.StatusServiceUnavailable,
		Detail: "The server is opening its store: try again shortly.",
	}
}

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
