package server

import (
	"encoding/json"
	"net/http"
)

// problem is the body of an error answer outside of GraphQL (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

const urn = "urn:foldql:problem:"

func (p *problem) write(w http.ResponseWriter) { writeJSON(w, p.Status, "application/problem+json", p) }

func unauthorized() *problem {
	return &problem{
		Type: urn + "unauthorized", Title: "Unauthorized", Status: http.StatusUnauthorized,
		Detail: `Send the write token of the server: "Authorization: Bearer TOKEN".`,
	}
}

func foreignHost(detail string) *problem {
	return &problem{Type: urn + "foreign-host", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

func foreignOrigin(detail string) *problem {
	return &problem{Type: urn + "foreign-origin", Title: "Forbidden", Status: http.StatusForbidden, Detail: detail}
}

func notLocal(why string) *problem {
	return &problem{
		Type: urn + "not-local", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Without a write token this is for requests that this machine sends by itself, and " + why +
			". Set a write token (FOLDQL_WRITE_TOKEN, or --write-token-file) and send it.",
	}
}

func notWritable() *problem {
	return &problem{
		Type: urn + "not-writable", Title: "Forbidden", Status: http.StatusForbidden,
		Detail: "Nobody writes to this server over HTTP.",
	}
}

func badRequest(detail string) *problem {
	return &problem{Type: urn + "bad-request", Title: "Bad request", Status: http.StatusBadRequest, Detail: detail}
}

func notFound(detail string) *problem {
	return &problem{Type: urn + "not-found", Title: "Not found", Status: http.StatusNotFound, Detail: detail}
}

func noLog() *problem {
	return notFound("This server reads its events from a file, which nothing can be appended to over HTTP.")
}

func failedAgain(detail string) *problem {
	return &problem{Type: urn + "failed-again", Title: "Failed again", Status: http.StatusConflict, Detail: detail}
}

func overloaded() *problem {
	return &problem{
		Type: urn + "overloaded", Title: "Overloaded", Status: http.StatusServiceUnavailable,
		Detail: "The server has as many large requests as it can take at a time: send the events again, a second later.",
	}
}

func starting() *problem {
	return &problem{
		Type: urn + "starting", Title: "Starting", Status: http.StatusServiceUnavailable,
		Detail: "The server is opening its store: try again shortly.",
	}
}

func internalProblem() *problem {
	return &problem{
		Type: urn + "internal", Title: "Internal error", Status: http.StatusInternalServerError,
		Detail: "The cause is in the log of the server.",
	}
}

// writeJSON sends a JSON body that nobody may keep.
func writeJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings, numbers and times always have a JSON form
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone needs no answer
}
