package graphqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/requestlog"
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
		shown.Message = p.hidePanic(ctx, panicked, gql.Path)
	case errors.Is(err, context.DeadlineExceeded):
		code, shown.Message = graphqlerr.Timeout, "the request ran out of time; ask for less, or again"
	case errors.Is(err, context.Canceled):
		code, shown.Message = graphqlerr.Unavailable, "the request was cancelled"
	case ofArguments(ctx):
		code, shown.Message = graphqlerr.BadUserInput, shortened(gql.Message, longestMessage)
	default:
		shown.Message = requestlog.Hide(ctx, p.logger, hidden, "", "path", gql.Path.String(), "error", err)
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

// hidden is what the log calls an error that clients do not see.
const hidden = "internal error"

// hidePanic logs a panic and returns what clients see in its place. The one with the stack is a kind of line of its
// own: the log has it however many errors come before it.
func (p *presenter) hidePanic(ctx context.Context, err *panicError, path ast.Path) string {
	if err.stack == nil {
		return requestlog.Hide(ctx, p.logger, hidden, "", "path", path.String(), "error", err)
	}
	return requestlog.Hide(ctx, p.logger, "panic", "", "path", path.String(), "error", err, "stack", string(err.stack))
}

// panicError is a panic while the request was answered.
type panicError struct {
	value any
	stack []byte // nil where the log has that of another panic of the request
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// recovered makes an error of a panic.
func (p *presenter) recovered(ctx context.Context, r any) error {
	return &panicError{r, requestlog.Stack(ctx)}
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
