package driver

import (
	"context"
	"sync"
	"sync/atomic"
)

// AnswerKeeper is a Driver that keeps answers that were made of rows in memory, for as long as none of these, nor
// anything else that was read for them, has changed. It has one writer.
type AnswerKeeper interface {
	// FindAnswer returns the answer that is kept under a key, nil where there is none any more. Nobody may change it.
	// again says that it was asked for before, lately: then it is worth a Trace.
	FindAnswer(key string) (answer []byte, again bool)
	// KeepAnswer keeps a copy of an answer, and of the key, if what the Trace has noted is still so.
	KeepAnswer(key string, answer []byte, t *Trace)
}

// Trace notes on what an answer depends: a driver that is an AnswerKeeper notes what a read looks at before it does. It
// is safe for concurrent use.
type Trace struct {
	mu     sync.Mutex
	noted  []uint64
	broken atomic.Bool // the answer is not to be kept
}

// mostNoted bounds what a Trace notes: an answer that depends on more is not worth keeping.
const mostNoted = 4096

// Note notes something, as the driver understands it. more is false where nothing else need be noted.
func (t *Trace) Note(what uint64) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.noted) == mostNoted {
		t.Break()
	}
	if t.broken.Load() {
		return false
	}
	t.noted = append(t.noted, what)
	return true
}

// Break says that the answer depends on something that cannot be noted: the time, for one.
func (t *Trace) Break() { t.broken.Store(true) }

// Noted returns all that was noted; ok is false where the answer depends on more.
func (t *Trace) Noted() (all []uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noted, !t.broken.Load()
}

type traceKey struct{}

// WithTrace returns a context whose reads are noted.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the Trace of the context, nil where nothing is to be noted.
func TraceOf(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok && !t.broken.Load() {
		return t
	}
	return nil
}
