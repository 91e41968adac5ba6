package sources

import (
	"context"
	"log/slog"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// undeclaredTypes is a source whose events the server did not look at when they were written: a file, the log of
// another server, or one that a program appends to itself. The log of a server takes none of an undeclared type; these
// may have some, which no projection folds, and a misspelt type must not go by unseen.
type undeclaredTypes struct {
	eventlog.Source
	types eventlog.Types
	log   *slog.Logger

	mu     sync.Mutex
	logged map[string]bool
}

// mostLogged is how many undeclared types are logged.
const mostLogged = 100

// Unwrap implements eventlog.Wrapper.
func (f *undeclaredTypes) Unwrap() eventlog.Source { return f.Source }

// Read implements eventlog.Source.
func (f *undeclaredTypes) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event,
	error) {
	events, err := f.Source.Read(ctx, partition, after, most)
	for i := range events {
		if e := &events[i]; e.Malformed == nil && f.types[e.Type] == nil {
			f.logOnce(e)
		}
	}
	return events, err
}

// logOnce logs a type once.
func (f *undeclaredTypes) logOnce(e *eventlog.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logged[e.Type] || len(f.logged) == mostLogged {
		return
	}
	if f.logged == nil {
		f.logged = map[string]bool{}
	}
	f.logged[e.Type] = true
	f.log.Warn("events of a type that is not declared are not folded; declare it, or correct its name where they are "+
		"written", "type", e.Type, "first", e.Offset, "id", e.ID)
}
