package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/foldql/foldql/server/internal/problem"
)

// Deciding admits decisions of operators until the server ends. One that has begun is finished, also when its caller
// has gone, and writes to the store meanwhile: whoever closes that, or has another server fold into it, waits. Where
// the store takes nothing, a decision would wait for that without end: so it is given up when the server has ended.
type Deciding struct {
	mu     sync.Mutex
	ended  bool
	begun  sync.WaitGroup
	late   context.Context // ends when decisions are given up
	giveUp context.CancelCauseFunc
}

// NewDeciding returns what admits decisions from now on.
func NewDeciding() *Deciding {
	d := &Deciding{}
	d.late, d.giveUp = context.WithCancelCause(context.Background())
	return d
}

// toFinish is how long decisions may still take when nothing else is waited for. It is less than what the end of a
// server waits for them.
const toFinish = 2 * time.Second

// errGivenUp is why a decision is not tried again.
var errGivenUp = errors.New("the server is stopping, and tries this no longer")

// End has no decision begin any more.
func (d *Deciding) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

// Finish ends, and soon gives up what has begun. What it returns is closed when that is done, or given up.
func (d *Deciding) Finish() (done <-chan struct{}) {
	d.End()
	all := make(chan struct{})
	go func() {
		defer close(all)
		defer time.AfterFunc(toFinish, func() { d.giveUp(errGivenUp) }).Stop()
		d.begun.Wait()
	}()
	return all
}

// begin reports whether a decision may begin. Whoever makes it says when it is done, by begun.
func (d *Deciding) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		d.begun.Add(1)
	}
	return !d.ended
}

// outlasting returns the context of a decision that has begun, which does not end when its caller has gone.
func (d *Deciding) outlasting(caller context.Context) (ctx context.Context, done context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(caller))
	stop := context.AfterFunc(d.late, func() { cancel(context.Cause(d.late)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Do makes a decision of the embedding program, as guard and outlasting do one of an operator.
func (d *Deciding) Do(ctx context.Context, decide func(context.Context) error) error {
	if !d.begin() {
		return errors.New("the server is stopping and decides nothing any more: try again when it has started again")
	}
	defer d.begun.Done()
	ctx, done := d.outlasting(ctx)
	defer done()
	return decide(ctx)
}

// isOver reports whether the server ends: who goes through several dead letters leaves the rest.
func (d *Deciding) isOver() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// guard refuses decisions when the server ends, and those whose request is not whole. It reads a request before the
// decision begins, because a client may send it slowly.
func (d *Deciding) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, usualBody))
		if err != nil {
			unread(err).Write(w)
			return
		}
		if !d.begin() {
			problem.Unavailable("The server is stopping and decides nothing any more: send this again when it has started " +
				"again, or to the server that follows it.").Write(w)
			return
		}
		defer d.begun.Done()
		whole := *r
		whole.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, &whole)
	})
}
