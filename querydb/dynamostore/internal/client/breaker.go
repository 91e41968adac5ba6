package client

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// breaker keeps reads that somebody waits for from waiting for a DynamoDB that does not answer. It opens where attempts
// have failed one after another, and no other succeeded meanwhile; from then on such reads fail at once, but for one
// every two seconds, which first asks whether DynamoDB answers again. Whoever folds goes on trying, and any answer
// closes the breaker.
type breaker struct {
	log    *slog.Logger
	failed atomic.Bool   // there was a failure since the last answer: then the rest counts
	last   atomic.Int64  // when the last answer came, in nanoseconds
	opened atomic.Uint64 // how often

	mu       sync.Mutex
	failures int   // one after another
	since    int64 // from when on there was no answer
	open     bool
	probe    time.Time // when to ask again
}

// The breaker opens after so many failures, or when there was no answer but failures for so long.
const (
	mostFailures = 5
	mostFailing  = time.Second
)

// A probe has so long to be answered, and the next one is sent so long after that.
const (
	probeTimeout = 800 * time.Millisecond
	probePause   = time.Second
)

// answered takes note of an answer, if one that says no.
func (b *breaker) answered() {
	b.last.Store(time.Now().UnixNano())
	if !b.failed.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		b.log.Info("dynamostore: DynamoDB answers again", "after", time.Since(time.Unix(0, b.since)).String())
	}
	b.failures, b.open = 0, false
	b.failed.Store(false)
}

// unanswered takes note of an attempt that got no answer, or that DynamoDB itself was the cause of.
func (b *breaker) unanswered(began time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		b.since = max(began.UnixNano(), b.last.Load())
	}
	b.failures++
	b.failed.Store(true)
	now := time.Now()
	if !b.open && (b.failures >= mostFailures || now.UnixNano()-b.since >= int64(mostFailing)) {
		b.open, b.probe = true, now // the next one who comes makes sure
		b.opened.Add(1)
		b.log.Warn("dynamostore: DynamoDB does not answer; queries are refused until it does", "error", err)
	}
}

// isOpen reports whether reads that somebody waits for fail at once.
func (b *breaker) isOpen() bool {
	if !b.failed.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// admit returns nil where a read may be tried. ask asks whether DynamoDB answers.
func (b *breaker) admit(ctx context.Context, ask func(context.Context) error) error {
	if !b.isOpen() {
		return nil
	}
	if !b.mayProbe() {
		return errNoAnswer
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	if err := ask(ctx); err != nil && (retryabilityOf(err) == doubtful || ctx.Err() != nil) {
		b.unanswered(began, err)
		return errNoAnswer
	}
	b.answered()
	return nil
}

// quiet is how long there may be no answer before Answers asks for one.
const quiet = 5 * time.Second

// check returns errNoAnswer where the breaker is open and stays so. It asks where nobody has for a while, so that it is
// found out, and found over, also where no query comes.
func (b *breaker) check(ctx context.Context, ask func(context.Context) error) error {
	if b.isOpen() {
		return b.admit(ctx, ask)
	}
	began := time.Now()
	if began.Sub(time.Unix(0, b.last.Load())) < quiet && !b.failed.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	if err := ask(ctx); err != nil && (retryabilityOf(err) == doubtful || ctx.Err() != nil) {
		if b.unanswered(began, err); b.isOpen() {
			return errNoAnswer
		}
		return nil
	}
	b.answered()
	return nil
}

// mayProbe reports whether it is time to ask again, and for whom it is not.
func (b *breaker) mayProbe() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.open || now.Before(b.probe) {
		return !b.open
	}
	b.probe = now.Add(probeTimeout + probePause)
	return true
}
