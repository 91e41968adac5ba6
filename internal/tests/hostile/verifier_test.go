package hostile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// codes are those that the API documents, and that clients can provoke, alone or together with a store that fails.
var codes = []graphqlerr.Code{
	graphqlerr.BadUserInput, graphqlerr.InvalidToken, graphqlerr.Unauthenticated, graphqlerr.Forbidden,
	graphqlerr.ParseFailed, graphqlerr.DocumentNotFound,
	graphqlerr.ValidationFailed, graphqlerr.LimitExceeded, graphqlerr.Timeout, graphqlerr.Unavailable,
}

// problems are the types of problem details that events can be answered with; there is one more, internal, which nobody
// is to see.
var problems = []string{
	"method-not-allowed", "unsupported-media-type", "request-too-large", "incomplete-request", "invalid-batch",
	"invalid-event",
	"event-too-large", "conflict", "unavailable",
}

// readProblems are those that a GET of events can be answered with, which asks for no events that there are.
var readProblems = []string{"bad-request"}

// stage is how far a request got.
type stage int

const (
	unread   stage = iota // refused before what it says was understood: transport, credentials, syntax
	read                  // understood, and found wrong
	executed              // answered with data, or taken into the log
)

// verdict is what an answer says.
type verdict struct {
	stage    stage
	codes    []string // codes of errors, or the type of a problem
	messages []string // all text that people read
	offsets  []uint64 // where new events stand
}

// verify reads an answer and returns what is wrong with it.
func verify(q *request, a *answer) (v verdict, err error) {
	switch {
	case q.kind == "elsewhere":
		v, err = verifyPage(a)
	case q.path == api:
		v, err = verifyAPI(a)
	case a.status == http.StatusUnauthorized || q.path != events:
		v, err = verifyOperator(a)
	default:
		v, err = verifyEvents(a)
	}
	if err != nil {
		return v, err
	}
	for _, m := range v.messages {
		if len(m) > longestText {
			return v, fmt.Errorf("a message has %d bytes", len(m))
		}
		if text := leak(m); text != "" {
			return v, fmt.Errorf("the message %.300q shows internals: %q", m, text)
		}
	}
	if err := blamesServer(q, a, &v); err != nil {
		return v, err
	}
	if q.want != nil {
		return v, q.want(a)
	}
	return v, nil
}

// blamesServer returns what is wrong with an answer that says that the server failed: it must do so only where it did.
func blamesServer(q *request, a *answer, v *verdict) error {
	blamed := slices.ContainsFunc(v.codes, func(c string) bool {
		return c == string(graphqlerr.Timeout) || c == string(graphqlerr.Unavailable) || c == "unavailable"
	})
	switch {
	case a.status >= 500 && a.status != http.StatusServiceUnavailable:
		return fmt.Errorf("status %d", a.status)
	case a.status == http.StatusServiceUnavailable && !blamed:
		return errors.New("status 503 without a code that says why")
	case blamed && q.trouble == none:
		return errors.New("the server says that it failed, and nothing was in its way")
	}
	return nil
}

// leak returns what no client is to read, "" where there is nothing of the kind: types, packages, files, addresses and
// errors of Go and of the libraries.
func leak(message string) string {
	for _, text := range internals {
		if strings.Contains(message, text) {
			return text
		}
	}
	if !strings.Contains(message, ".") {
		return ""
	}
	return names.FindString(message)
}

var (
	internals = []string{
		"goroutine", "panic", "runtime error", "nil pointer", "<nil>", "0xc0", ".go:", "github.com", "golang",
		"pebble", "Pebble",
		"gqlgen", "gqlparser", "jlexer", "easyjson", "%!", "interface {}", "interface{}", "map[", "[]byte",
		"[]string", "[]any",
		"nmarshal", "json: ", "int32", "int64", "float32", "float64", "strconv", "/home/", "/srv/", "/tmp/",
		"/root/", "/usr/",
	}
	names = regexp.MustCompile(
		`\b(graph|graphql|graphqlhttp|graphqlerr|querydb|keys|record|driver|json|http|url|time|jwt|ast|gqlerror|` +
			`reflect|auth|ingest|eventlog|model|event|errors|fmt|io|context|sync|syscall|os|net)\.[A-Z]\w*`)
)

// verifyAPI reads a response of GraphQL.
func verifyAPI(a *answer) (v verdict, err error) {
	var body struct {
		Data       json.RawMessage
		Errors     *[]responseError
		Extensions json.RawMessage
	}
	if err := wellFormed(a, &body, "application/json; charset=utf-8",
		"application/graphql-response+json; charset=utf-8"); err != nil {
		return v, err
	}
	if body.Data != nil {
		v.stage = executed
	}
	if body.Errors == nil {
		if body.Data == nil || string(body.Data) == "null" || a.status != http.StatusOK {
			return v, errors.New("there is neither data nor an error")
		}
		return v, nil
	}
	if len(*body.Errors) == 0 {
		return v, errors.New("the list of errors is empty")
	}
	for _, e := range *body.Errors {
		code := e.Extensions.Code
		if !slices.Contains(codes, code) {
			return v, fmt.Errorf("an error has the code %q", code)
		}
		if code == graphqlerr.ValidationFailed {
			v.stage = max(v.stage, read)
		}
		v.codes = append(v.codes, string(code))
		v.messages = append(v.messages, e.Message)
		if e.Message == "" {
			return v, errors.New("an error has no message")
		}
	}
	return v, nil
}

type responseError struct {
	Message    string
	Locations  []struct{ Line, Column uint }
	Path       []any
	Extensions struct{ Code graphqlerr.Code }
}

// verifyEvents reads the answer to events: where they stand, or a problem.
func verifyEvents(a *answer) (v verdict, err error) {
	if a.status == http.StatusOK || a.status == http.StatusCreated {
		var body struct {
			Appended []struct {
				Offset    uint64
				Duplicate bool
			}
		}
		if err := wellFormed(a, &body, "application/json"); err != nil {
			return v, err
		}
		for _, at := range body.Appended {
			if !at.Duplicate {
				v.offsets = append(v.offsets, at.Offset)
			}
		}
		v.stage = executed
		if (len(v.offsets) > 0) != (a.status == http.StatusCreated) {
			return v, fmt.Errorf("status %d, and %d events are new", a.status, len(v.offsets))
		}
		return v, nil
	}
	return verifyProblem(a, slices.Concat(problems, readProblems))
}

// verifyProblem reads problem details, of one of the types.
func verifyProblem(a *answer, problems []string) (v verdict, err error) {
	var body struct {
		Type, Title, Detail, ID, Field, Reason string
		Status                                 int
		Event                                  *int
	}
	if err := wellFormed(a, &body, "application/problem+json"); err != nil {
		return v, err
	}
	kind, ours := strings.CutPrefix(body.Type, "urn:foldql:problem:")
	v.codes, v.messages = []string{kind}, []string{body.Title, body.Detail, body.Reason}
	switch {
	case !ours || !slices.Contains(problems, kind):
		return v, fmt.Errorf("the type of the problem is %q", body.Type)
	case body.Status != a.status || body.Title == "" || body.Detail == "":
		return v, fmt.Errorf("the problem has the status %d, the title %q and the detail %q", body.Status, body.Title,
			body.Detail)
	}
	named := body.Field == "type" || body.Field == "data" || strings.HasPrefix(body.Field, "data.")
	if kind == "conflict" || kind == "invalid-event" && named && !strings.HasPrefix(body.Reason, "not JSON") {
		v.stage = read
	}
	return v, nil
}

// wellFormed reads an answer that must be JSON, in UTF-8, of one of the media types, with no member that body has not.
func wellFormed(a *answer, body any, mediaTypes ...string) error {
	if got := a.header.Get("Content-Type"); !slices.Contains(mediaTypes, got) {
		return fmt.Errorf("status %d, the content type is %q", a.status, got)
	}
	text := a.body.Bytes()
	if !utf8.Valid(text) {
		return errors.New("the answer is not UTF-8")
	}
	if err := json.Unmarshal(text, body); err != nil {
		return fmt.Errorf("the answer is not what it should be: %w", err)
	}
	return nil
}

// status wants an answer of that status.
func status(want int) func(*answer) error {
	return func(a *answer) error {
		if a.status != want {
			return fmt.Errorf("status %d, want %d", a.status, want)
		}
		return nil
	}
}

// answered wants data and no error.
func answered(a *answer) error {
	v, err := verifyAPI(a)
	if err == nil && (len(v.codes) > 0 || v.stage != executed) {
		err = fmt.Errorf("a good query is answered with %v", v.codes)
	}
	return err
}

// coded wants an error of that code and no data.
func coded(want graphqlerr.Code) func(*answer) error {
	return func(a *answer) error {
		v, err := verifyAPI(a)
		if err == nil && !slices.Contains(v.codes, string(want)) {
			err = fmt.Errorf("the answer has the codes %v, want %s", v.codes, want)
		}
		return err
	}
}

var (
	invalidToken    = coded(graphqlerr.InvalidToken)
	unauthenticated = func(a *answer) error {
		if a.status != http.StatusUnauthorized {
			return fmt.Errorf("a token that is not good is answered with %d", a.status)
		}
		return coded(graphqlerr.Unauthenticated)(a)
	}
)
