// Package faultproxy stands between a program and a DynamoDB endpoint, and makes happen by chance what happens to those
// who write to DynamoDB: requests are throttled, answered with an error before or after they took effect, cut off,
// delayed, held until others have written, done in part, and delivered twice or late.
//
// Chance is seeded. What happens to a request depends on the seed, on what it is about (its operation, table and key)
// and on how many requests were about the same before, not on the order in which unrelated requests come in; so the
// same program under the same seed has much the same faults, as far as its goroutines and the clock let it send the
// same requests.
package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config says where a Proxy forwards to and what it does on the way.
type Config struct {
	// Backend is the address of the endpoint, http://host:port.
	Backend string
	Seed    uint64
	Rates   Rates
	// MostDelay is the longest that a Delayed request waits, 50 ms where 0; MostHeld that a Held one waits for others, 500
	// ms where 0; MostLate how long after its answer a Late
	// request is delivered again, 2 s where 0.
	MostDelay, MostHeld, MostLate time.Duration
	// SignedWithin, unless it is 0, refuses requests that were signed longer ago, give or take a second. DynamoDB does so
	// after some minutes, which keeps a program from sending tomorrow what it has made ready today.
	SignedWithin time.Duration
	// StaleIndexes has a query of an index answered with what was true up to so long ago, of each row another time, as
	// DynamoDB does: an index follows its table later, row by row. It holds while the proxy is Quiet too. 0 is never.
	StaleIndexes time.Duration
	// Now is the clock by which indexes are behind; time.Now where nil.
	Now func() time.Time
	// Without is what the proxy takes out of requests of foldql, whose table of notes is Notes. It holds while the proxy
	// is Quiet too.
	Without Without
	Notes   string
}

// Proxy is an http.Handler that forwards requests of DynamoDB's JSON protocol. It is safe for concurrent use.
type Proxy struct {
	cfg    Config
	client *http.Client
	chance chance
	tally  tally
	past   past

	mu     sync.Mutex
	quiet  bool
	closed bool
	late   sync.WaitGroup // requests to be delivered again
}

// New makes a Proxy. The caller serves it, and calls Settle and Close in the end.
func New(cfg Config) *Proxy {
	if cfg.MostDelay == 0 {
		cfg.MostDelay = 50 * time.Millisecond
	}
	if cfg.MostHeld == 0 {
		cfg.MostHeld = 500 * time.Millisecond
	}
	if cfg.MostLate == 0 {
		cfg.MostLate = 2 * time.Second
	}
	cfg.Backend = strings.TrimSuffix(cfg.Backend, "/")
	return &Proxy{
		cfg: cfg,
		// What is forwarded is changed on the way, so no answer may come compressed.
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}},
		chance: chance{seed: cfg.Seed, seen: map[uint64]uint64{}},
		tally:  newTally(),
		past:   past{most: cfg.StaleIndexes, rows: map[string]*row{}, tables: map[string]*keySchema{}},
	}
}

// now is the time by which indexes are behind.
func (p *Proxy) now() time.Time {
	if p.cfg.Now != nil {
		return p.cfg.Now()
	}
	return time.Now()
}

// Quiet ends the faults: from now on every request is forwarded as it is. Late ones still come.
func (p *Proxy) Quiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = true
}

// Settle returns when no request that was received before is still to be delivered.
func (p *Proxy) Settle() { p.late.Wait() }

// Close settles, and lets go of the connections to the endpoint.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Settle()
	p.client.CloseIdleConnections()
}

// Counts tells what has happened so far.
func (p *Proxy) Counts() Counts { return p.tally.counts() }

// AfterWrites returns a channel that is closed when n more requests that write have come in.
func (p *Proxy) AfterWrites(n int) <-chan struct{} { return p.tally.afterWrites(n) }

// ServeHTTP forwards a request, or does to it what chance has in store.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := newRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := p.cfg.Without.takeOutOf(req, p.cfg.Notes); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.tally.arrived(req)
	if p.cfg.SignedWithin > 0 && req.age(time.Now()) > p.cfg.SignedWithin+time.Second {
		ans := expired()
		p.tally.answered(ans)
		ans.write(w, false)
		return
	}
	fate := p.fate(req)
	ans, err := p.meet(req, fate)
	switch {
	case errors.Is(err, errCut):
		panic(http.ErrAbortHandler) // closes the connection without a word
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	p.tally.answered(ans)
	ans.write(w, fate.fault == CutAmid)
}

// fate draws what befalls a request.
func (p *Proxy) fate(req *request) fate {
	p.mu.Lock()
	quiet := p.quiet
	p.mu.Unlock()
	if quiet || !req.reads() && !req.writes() {
		return fate{}
	}
	rnd := p.chance.draw(req)
	f := fate{rnd: rnd, delay: time.Duration(rnd.Int64N(int64(p.cfg.MostDelay))),
		late: time.Duration(rnd.Int64N(int64(p.cfg.MostLate)))}
	for fault := None + 1; fault < faults; fault++ {
		if rnd.Float64() < p.cfg.Rates[fault] && fault.befalls(req) {
			f.fault = fault
			p.tally.fault(fault, req)
			break
		}
	}
	return f
}

// fate is what befalls one request.
type fate struct {
	fault       Fault
	delay, late time.Duration // as far as the fault has to do with them
	rnd         *rand.Rand
}

// errCut is the end of a connection in place of an answer.
var errCut = errors.New("the connection is cut")

// meet lets a request meet its fate, and returns the answer.
func (p *Proxy) meet(req *request, f fate) (*answer, error) {
	switch f.fault {
	case Throttled:
		return throttle(req, f.rnd), nil
	case Conflicted:
		return conflict(req, f.rnd), nil
	case FailedBefore:
		return failure(f.rnd), nil
	case CutBefore:
		return nil, errCut
	case FailedAfter, CutAfter:
		if _, err := p.forward(req); err != nil || f.fault == CutAfter {
			return nil, errors.Join(err, errCut)
		}
		return failure(f.rnd), nil
	case Delayed:
		time.Sleep(f.delay)
	case Held:
		hold(p.AfterWrites(2+f.rnd.IntN(mostAwaited-1)), p.cfg.MostHeld)
	case Twice:
		first, err := p.forward(req)
		second, err2 := p.forward(req)
		if f.rnd.IntN(2) == 0 {
			return first, err
		}
		return second, err2
	case Late:
		ans, err := p.forward(req)
		p.again(req, f.late)
		return ans, err
	case Partly:
		return p.forwardPart(req, f.rnd)
	}
	return p.forward(req)
}

// mostAwaited is how many writes of others a Held request waits for at most. It waits for two at least: when the second
// comes in, the first may have been done.
const mostAwaited = 6

// hold waits for writes of others, of which there may be none: what the held request was made of may change by them.
func hold(others <-chan struct{}, most time.Duration) {
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-others:
	case <-enough.C:
	}
}

// again delivers a request once more, after a while.
func (p *Proxy) again(req *request, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.late.Go(func() {
		time.Sleep(after)
		// Nobody waits for the answer. Whether the request came through does not matter either: it did before.
		_, _ = p.forward(req)
	})
}

// forward sends a request to the endpoint. That whoever sent it has gone away does not keep it from being done, nor
// does it in a network.
func (p *Proxy) forward(req *request) (*answer, error) {
	switch {
	case p.cfg.StaleIndexes == 0:
		return p.deliver(req)
	case req.writes():
		return p.remember(req)
	case req.operation == "Query":
		return p.stale(req)
	}
	return p.deliver(req)
}

// deliver sends a request to the endpoint, and does nothing else.
func (p *Proxy) deliver(req *request) (*answer, error) {
	out, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.cfg.Backend+"/",
		bytes.NewReader(req.body))
	if err != nil {
		return nil, fmt.Errorf("forward to %s: %w", p.cfg.Backend, err)
	}
	out.Header = req.header.Clone()
	out.Header.Set("Accept-Encoding", "identity")
	out.Host = req.host // as it was signed
	in, err := p.client.Do(out)
	if err != nil {
		return nil, fmt.Errorf("forward to %s: %w", p.cfg.Backend, err)
	}
	defer in.Body.Close() // it has been read
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", p.cfg.Backend, err)
	}
	return &answer{status: in.StatusCode, header: in.Header, body: body}, nil
}
