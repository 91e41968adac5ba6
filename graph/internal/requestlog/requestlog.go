// Package requestlog bounds what one request writes to the log: a query can fail at every row that it reads, and the
// log is to stay readable.
package requestlog

import (
	"context"
	"crypto/rand"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Most is how many lines of a kind, those with the same message about the same model or query, the log has of one
// request.
const Most = 10

// Request counts what the log has of one request. The zero value is ready. It is safe for concurrent use.
type Request struct {
	mu      sync.Mutex
	kinds   map[kind]written
	stacked bool // a stack has been taken
}

type kind struct {
	level   slog.Level
	message string
	what    string // the model or query that was read, "" where it is nothing of the kind
}

// written is what there has been of a kind.
type written struct {
	lines int
	first string // the id of the first, "" where it has none
}

type requestKey struct{}

// With returns a context whose errors are counted by the request.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// Bounded returns the context with a Request of its own where it has none.
func Bounded(ctx context.Context) context.Context {
	if of(ctx) != nil {
		return ctx
	}
	return With(ctx, new(Request))
}

// of is the Request of the context, nil where it has none: then all is logged.
func of(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// Log writes a line about what a request read, unless the log has enough of its kind.
func Log(ctx context.Context, logger *slog.Logger, level slog.Level, message, what string, args ...any) {
	if !logger.Enabled(ctx, level) {
		return
	}
	k := kind{level, message, what}
	of(ctx).add(k, "").write(ctx, logger, k, args)
}

// Hide writes the line of an error that the client is not to see, and returns what the client is told instead: the id
// under which the log has the error, or the first of its kind. what is "" where nothing was read.
func Hide(ctx context.Context, logger *slog.Logger, message, what string, args ...any) string {
	id, k := rand.Text(), kind{slog.LevelError, message, what}
	before := of(ctx).add(k, id)
	before.write(ctx, logger, k, append([]any{"id", id}, args...))
	if before.lines >= Most {
		return "internal error; the server's log has the first of this request under " + before.first
	}
	return "internal error; the server's log has it under " + id
}

// add counts a line, and returns what there was of its kind before.
func (r *Request) add(k kind, id string) written {
	if r == nil {
		return written{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = map[kind]written{}
	}
	before, now := r.kinds[k], r.kinds[k]
	if now.lines++; now.lines == 1 {
		now.first = id
	}
	r.kinds[k] = now
	return before
}

// write writes one line more; the first that is too many says so instead.
func (before written) write(ctx context.Context, logger *slog.Logger, k kind, args []any) {
	message := k.message
	switch {
	case before.lines > Most:
		return
	case before.lines == Most:
		message, args = "more lines of this request are not logged", []any{"of", k.message}
		if before.first != "" {
			args = append(args, "first", before.first)
		}
	}
	if k.what != "" {
		args = append(args, "what", k.what)
	}
	logger.Log(ctx, k.level, message, args...)
}

// Stack is the stack of the caller, the first time in a request, and then nil.
func Stack(ctx context.Context) []byte {
	if r := of(ctx); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.stacked {
			return nil
		}
		r.stacked = true
	}
	return debug.Stack()
}
