package graphqlhttp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/internal/slowclient"
)

// answer is how one request is answered: in what form, and to whom.
type answer struct {
	w         http.ResponseWriter
	request   *http.Request
	mediaType string
	budget    *budget
	patience  time.Duration // with a client who does not read
}

// busy answers a request for which there is no memory left.
func (a *answer) busy() {
	a.w.Header()["Retry-After"] = retryAfter
	a.refuse(http.StatusServiceUnavailable, errNoMemory())
}

// refuse answers a request that is not one of GraphQL over HTTP.
func (a *answer) refuse(status int, err error) {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	a.write(status, &graphql.Response{Errors: gqlerror.List{gql}})
}

// Refuse answers a request of GraphQL that its handler is not to see, in the form that the client accepts. The error is
// one of package graphqlerr.
func Refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	mediaType, _ := negotiate(r.Header["Accept"]) // JSON where the client accepts neither
	(&answer{w: w, request: r, mediaType: mediaType}).refuse(status, err)
}

// failed answers a request whose document or variables are wrong: nothing was executed, so there is no data. Clients
// that do not know the media type of GraphQL take every other status than 200 for a failure of the transport.
func (a *answer) failed(resp *graphql.Response) {
	status := http.StatusOK
	if a.mediaType == responseType {
		status = http.StatusBadRequest
	}
	a.write(status, &graphql.Response{Errors: resp.Errors, Extensions: resp.Extensions})
}

// response answers a request that was executed. Its errors come in the order of their paths: fields are resolved at the
// same time, and an answer must not depend on which is first.
func (a *answer) response(resp *graphql.Response) {
	slices.SortStableFunc(resp.Errors, func(x, y *gqlerror.Error) int {
		return cmp.Or(slices.CompareFunc(x.Path, y.Path, compareElements), strings.Compare(x.Message, y.Message))
	})
	status := http.StatusOK
	if resp.Data == nil && len(resp.Errors) > 0 && a.mediaType == responseType {
		status = statusOf(graphqlerr.CodeOf(resp.Errors[0]))
	}
	told := encodeErrors(resp.Errors)
	if !a.budget.keep(int64(len(resp.Data) + len(told))) { // until the client has all of it
		a.busy()
		return
	}
	a.send(status, resp, told)
}

// compareElements orders the elements of paths: places in a list by number, names by their bytes.
func compareElements(x, y ast.PathElement) int {
	i, inList := x.(ast.PathIndex)
	k, both := y.(ast.PathIndex)
	if inList && both {
		return cmp.Compare(i, k)
	}
	return strings.Compare(fmt.Sprint(x), fmt.Sprint(y))
}

// statusOf returns the status of an answer without data.
func statusOf(code graphqlerr.Code) int {
	switch code {
	case graphqlerr.Timeout, graphqlerr.Unavailable, graphqlerr.Stale:
		return http.StatusServiceUnavailable
	case graphqlerr.Internal:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// The headers of every answer, shared: net/http only reads them.
var (
	mediaTypes = map[string][]string{
		jsonType:     {jsonType + "; charset=utf-8"},
		responseType: {responseType + "; charset=utf-8"},
	}
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}

	retryAfter = []string{"1"} // seconds
)

var (
	beginErrors     = []byte(`{"errors":`)
	beginData       = []byte(`{"data":`)
	moreData        = []byte(`,"data":`)
	beginExtensions = []byte(`,"extensions":`)
	null            = []byte(`null`)
	end             = []byte(`}`)
)

// write sends an answer.
func (a *answer) write(status int, resp *graphql.Response) {
	a.send(status, resp, encodeErrors(resp.Errors))
}

// encodeErrors encodes the errors of an answer, nil for none.
func encodeErrors(errs gqlerror.List) []byte {
	if len(errs) == 0 {
		return nil
	}
	return encode(errs)
}

// joined is how large an answer may be whose parts are put together, as each write passes through several layers.
const joined = 4 << 10

var joinBuffers = sync.Pool{New: func() any { return new([joined]byte) }}

// send sends an answer, whose errors are encoded. The data is sent as it is.
func (a *answer) send(status int, resp *graphql.Response, told []byte) {
	parts := make([][]byte, 0, 7)
	if told != nil {
		parts = append(parts, beginErrors, told)
		if resp.Data != nil {
			parts = append(parts, moreData, resp.Data)
		}
	} else if resp.Data != nil {
		parts = append(parts, beginData, resp.Data)
	} else {
		parts = append(parts, beginData, null)
	}
	if len(resp.Extensions) > 0 {
		parts = append(parts, beginExtensions, encode(resp.Extensions))
	}
	parts = append(parts, end)
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	header := a.w.Header()
	header["X-Content-Type-Options"] = noSniff // first: it may be there, and to set a key again makes a full map grow
	header["Content-Type"] = mediaTypes[a.mediaType]
	header["Content-Length"] = []string{strconv.Itoa(size)}
	header["Cache-Control"] = noStore
	a.w.WriteHeader(status)
	to := slowclient.Writer{To: a.w, Patience: a.patience}
	if size <= joined {
		buf := joinBuffers.Get().(*[joined]byte)
		defer joinBuffers.Put(buf)
		whole := buf[:0]
		for _, p := range parts {
			whole = append(whole, p...)
		}
		parts = append(parts[:0], whole)
	}
	for _, p := range parts {
		if _, err := to.Write(p); err != nil {
			return // the client has gone
		}
	}
}

// encode encodes what is not data: errors, and extensions of an interceptor's own.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // an extension put something into the answer that is no JSON
	}
	return b
}
