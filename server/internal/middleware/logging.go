// Package middleware wraps what every request passes through: logging, security headers, CORS.
package middleware

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/foldql/foldql/server/internal/problem"
)

// observed is a response that remembers what was sent.
type observed struct {
	http.ResponseWriter
	status int
	bytes  int64
	conn   *holding // nil where the listener is no OneWrite
	length int64    // of an answer that is held back; 0 where none is
}

func (w *observed) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.holdBack()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *observed) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	if w.length > 0 && w.bytes >= w.length && err == nil {
		err = w.FlushError()
	}
	return n, err
}

// Unwrap lets http.ResponseController reach what is below.
func (w *observed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// LogRequests logs each request without its query, body or headers, and turns a panic into a 500. Requests that went
// well are for debugging only, and so is being asked again and again whether the server is ready: it logs when it is.
func LogRequests(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		o := &observed{ResponseWriter: w, conn: connectionOf(r)}
		defer o.end()
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				log.ErrorContext(r.Context(), "panic while answering", "path", r.URL.Path, "panic", v, "stack",
					string(debug.Stack()))
				if o.status == 0 {
					problem.InternalProblem().Answer(o, r)
				}
			}
			level := slog.LevelDebug
			if o.status >= http.StatusInternalServerError && !isTold(o.status) {
				level = slog.LevelWarn
			}
			if log.Enabled(r.Context(), level) {
				log.LogAttrs(r.Context(), level, "request",
					slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", o.status),
					slog.Int64("bytes", o.bytes), slog.Duration("took", time.Since(began)), slog.String("from", r.RemoteAddr))
			}
		}()
		next.ServeHTTP(o, r)
	})
}

// isTold reports whether metrics or another line tell why the server answers so. Requests that are refused for the load
// of others are counted, and a disk that is full is logged once: a line for each would be load, and fill the disk.
func isTold(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage
}
