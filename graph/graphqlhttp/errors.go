package graphqlhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// presenter decides what clients see of errors: those with a code as they are, the others no more than that there
// was one, and where the log has it.
type presenter struct {
	logger *slog.Logger
}

func (p *presenter) present(ctx context.Context, err error) *gqlerror.Error {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.WrapPath(graphql.GetPath(ctx), err)
	}
	gql = located(ctx, gql)
	if graphqlerr.CodeOf(gql) != "" {
		return bounded(gql)
	}
	shown := &gqlerror.Error{Path: gql.Path, Locations: gql.Locations}
	code := graphqlerr.Internal
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		args := []any{"path", gql.Path.String()}
		if panicked.stack != nil {
			args = append(args, "stack", string(panicked.stack))
		}
		shown.Message = p.hide(ctx, err, args...)
	case errors.Is(err, context.DeadlineExceeded):
		code, shown.Message = graphqlerr.Timeout, "the request ran out of time; ask for less, or again"
	case errors.Is(err, context.Canceled):
		code, shown.Message = graphqlerr.Unavailable, "the request was cancelled"
	case ofArguments(ctx):
		code, shown.Message = graphqlerr.BadUserInput, shortened(gql.Message, longestMessage)
	default:
		shown.Message = p.hide(ctx, err, "path", gql.Path.String())
	}
	shown.Extensions = map[string]any{"code": string(code)}
	return shown
}

// How many bytes a message may have. One about a document quotes what the client knows already.
const (
	longestMistake = 500
	longestMessage = 2000
)

// shortened is a message that does not repeat a long input of the client.
func shortened(message string, most int) string {
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// bounded is the error with a message of bounded length. The error may be that of other fields too, so it stays as it
// is.
func bounded(gql *gqlerror.Error) *gqlerror.Error {
	if len(gql.Message) <= longestMessage {
		return gql
	}
	short := *gql
	short.Message = shortened(gql.Message, longestMessage)
	return &short
}

// located gives an error the place of its field, which gqlgen leaves out where an argument cannot be read. The error
// may be that of other fields too, so it stays as it is.
func located(ctx context.Context, gql *gqlerror.Error) *gqlerror.Error {
	fc := graphql.GetFieldContext(ctx)
	if len(gql.Locations) > 0 || fc == nil || fc.Field.Field == nil || fc.Field.Position == nil {
		return gql
	}
	with := *gql
	with.Locations = []gqlerror.Location{{Line: fc.Field.Position.Line, Column: fc.Field.Position.Column}}
	return &with
}

// hide logs an error and returns what clients see in its place.
func (p *presenter) hide(ctx context.Context, err error, args ...any) string {
	id := rand.Text()
	first, before := failuresOf(ctx).add(id)
	if before >= maxLogged {
		if before == maxLogged {
			p.logger.ErrorContext(ctx, "more internal errors of this request are not logged", "first", first)
		}
		return "internal error; the server's log has the first of this request under " + first
	}
	p.logger.ErrorContext(ctx, "internal error", append(args, "id", id, "error", err)...)
	return "internal error; the server's log has it under " + id
}

// maxLogged is how many internal errors of one request the log has.
const maxLogged = 10

// failures are the internal errors of one request: there can be one at every row, and the log is to stay readable.
type failures struct {
	mu      sync.Mutex
	first   string // its id
	n       int
	stacked bool // the log has a stack
}

type failuresKey struct{}

// failuresOf are those of the request, nil outside of one that is carried out.
func failuresOf(ctx context.Context) *failures {
	f, _ := ctx.Value(failuresKey{}).(*failures)
	return f
}

// add counts an error, and returns the id of the first and how many there were before this one.
func (f *failures) add(id string) (first string, before int) {
	if f == nil {
		return id, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		f.first = id
	}
	return f.first, f.n - 1
}

// stack is the stack of the caller, the first time in a request, and then nil.
func (f *failures) stack() []byte {
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.stacked {
			return nil
		}
		f.stacked = true
	}
	return debug.Stack()
}

// panicError is a panic while the request was answered.
type panicError struct {
	value any
	stack []byte // nil where the log has that of another panic of the request
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// recovered makes an error of a panic.
func (p *presenter) recovered(ctx context.Context, r any) error {
	return &panicError{r, failuresOf(ctx).stack()}
}

// ofArguments reports whether the error arose reading the arguments of a field: gqlgen has not set them yet then. What
// the scalars say of them is for the client.
func ofArguments(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	return fc != nil && fc.Args == nil && fc.Field.Field != nil && fc.Field.Definition != nil &&
		len(fc.Field.Definition.Arguments) > 0
}

// coded makes an error of this package's own.
func coded(code graphqlerr.Code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    shortened(fmt.Sprintf(format, args...), longestMistake),
		Extensions: map[string]any{"code": string(code)},
	}
}
