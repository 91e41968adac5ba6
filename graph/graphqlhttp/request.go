package graphqlhttp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/internal/slowclient"
)

// refusal is why a request is not one of GraphQL over HTTP.
type refusal struct {
	status int
	err    error
}

func refuse(status int, code graphqlerr.Code, format string, args ...any) *refusal {
	return &refusal{status, graphqlerr.New(code, format, args...)}
}

func badRequest(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, graphqlerr.BadUserInput, format, args...)
}

// read reads the parameters of a request.
func (h *handler) read(w http.ResponseWriter, r *http.Request, b *budget) (p *params, refused *refusal) {
	p = &params{RawParams: graphql.RawParams{Headers: r.Header}}
	p.ReadTime.Start = graphql.Now()
	switch r.Method {
	case http.MethodPost:
		refused = h.readBody(w, r, p, b)
	case http.MethodGet, http.MethodHead:
		refused = h.readURL(r, p)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refused = refuse(http.StatusMethodNotAllowed, graphqlerr.BadUserInput,
			"queries are asked with GET or POST, not %.20s", r.Method)
	}
	p.ReadTime.End = graphql.Now()
	switch persisted := p.Extensions[persistedQuery] != nil; {
	case refused != nil:
	case p.Query == "" && p.documentID == "" && !persisted:
		refused = badRequest("the request has no query")
	case p.Query != "" && p.documentID != "":
		refused = badRequest("the request has query and documentId: send one of them")
	}
	return p, refused
}

func (h *handler) readBody(w http.ResponseWriter, r *http.Request, params *params, b *budget) *refusal {
	if types := r.Header["Content-Type"]; len(types) != 1 || !isJSON(types[0]) {
		return refuse(http.StatusUnsupportedMediaType, graphqlerr.BadUserInput, "the body must be %s in UTF-8",
			jsonType)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, graphqlerr.BadUserInput, "the body must not be encoded, as %.20q",
			coding)
	}
	params.body = bodies.Get().(*[]byte)
	inTime := slowclient.Bound(r.Body, slowclient.Reader{Answer: w, Patience: h.cfg.ReadTimeout})
	coming := held{http.MaxBytesReader(w, inTime, h.cfg.MaxBodyBytes), b}
	body, err := readAll(&coming, r.ContentLength, h.cfg.MaxBodyBytes, params.body)
	if err != nil {
		return h.unread(err)
	}
	return misread("", readParams(body, params, h.cfg.MaxValues, &h.texts))
}

// unread refuses a request whose body does not come.
func (h *handler) unread(err error) *refusal {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return h.tooLarge("body")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(http.StatusRequestTimeout, graphqlerr.BadUserInput,
			"the body comes too slowly: send 64 KiB of it, or the rest, within %s", h.cfg.ReadTimeout)
	}
	return badRequest("the body cannot be read to its end")
}

// misread refuses a request for what is wrong with its parameters, nil where nothing is.
func misread(where string, err error) *refusal {
	if err == nil {
		return nil
	}
	var tooMany *tooManyValues
	switch {
	case errors.As(err, &tooMany), errors.Is(err, errNesting):
		return refuse(http.StatusRequestEntityTooLarge, graphqlerr.LimitExceeded, "%s%w", where, err)
	}
	return badRequest("%s%w", where, err)
}

func (h *handler) tooLarge(what string) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, graphqlerr.LimitExceeded, "the %s has more than %d bytes", what,
		h.cfg.MaxBodyBytes)
}

func (h *handler) readURL(r *http.Request, params *params) *refusal {
	if int64(len(r.URL.RawQuery)) > h.cfg.MaxBodyBytes {
		return h.tooLarge("query string")
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest("the query string is not URL-encoded")
	}
	params.Query, params.OperationName = values.Get("query"), values.Get("operationName")
	params.documentID = values.Get("documentId")
	for _, text := range []string{params.Query, params.OperationName, params.documentID} {
		if !utf8.ValidString(text) {
			return badRequest("the query string is not URL-encoded UTF-8")
		}
	}
	for name, field := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		if text := values.Get(name); text != "" {
			if *field, err = readObject([]byte(text), h.cfg.MaxValues); err != nil {
				return misread(name+": ", err)
			}
		}
	}
	return nil
}

func isJSON(contentType string) bool {
	if contentType == jsonType {
		return true
	}
	name, params, err := mime.ParseMediaType(contentType)
	return err == nil && name == jsonType && isUTF8(params["charset"])
}

// held is a body that counts for the budget while it comes in.
type held struct {
	from   io.Reader
	budget *budget
}

// bodyTimes is how many times its size a body takes, with what is made of it.
const bodyTimes = 3

func (r *held) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if full := r.budget.Hold(bodyTimes * n); full != nil {
		return n, full
	}
	return n, err
}

// unasked is the size of a body that memory is taken for before it has come.
const unasked = 64 << 10

// bodies has the memory of bodies that were read, of up to that size. Nothing that outlives a request shares it.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// readAll is io.ReadAll into memory of the right size, where the client said how much there is: in that of the buffer,
// which grows where it has less.
func readAll(r io.Reader, size, limit int64, buf *[]byte) ([]byte, error) {
	if size < 0 || size > min(limit, unasked) {
		return io.ReadAll(r)
	}
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	body := (*buf)[:size]
	_, err := io.ReadFull(r, body)
	return body, err
}
