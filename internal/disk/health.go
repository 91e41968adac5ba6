package disk

import (
	"log/slog"
	"sync"
	"time"
)

// health is how the writes of a store fare: which of them fail, and whether they are tried again.
type health struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	opened  bool               // the store is open: writes that fail wait
	closed  bool               // nobody waits for them any more
	failed  *Fault             // until the next start
	failing map[string]failure // by the file, what failed and is tried again
	trouble chan struct{}      // closed while there is any, or writing has failed for good
	logged  map[string]bool    // the kinds of faults that were logged since all was well
}

// failure is something that failed and is tried again: at once, by whoever waits for it, or some time later.
type failure struct {
	err   error
	at    time.Time
	later bool
}

// remembered is how long a failure counts that nobody may ever try again.
const remembered = 5 * time.Second

// open has writes that fail wait from now on.
func (h *health) open() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = true
}

func (h *health) isOpened() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened
}

// close says that nobody waits for writes any more.
func (h *health) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

func (h *health) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// fault returns what keeps writes waiting, nil where nothing does.
func (h *health) fault() *Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	if h.failed != nil {
		return h.failed
	}
	for _, f := range h.failing {
		return &Fault{Dir: h.dir, Err: f.err}
	}
	return nil
}

// troubled returns a channel that is closed while there is trouble.
func (h *health) troubled() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}

// fail stops all writing until the next start.
func (h *health) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == nil {
		h.failed = &Fault{Dir: h.dir, Err: err, restart: true}
	}
	h.beginTrouble()
	h.logChange(h.failed)
}

// noteFailure takes note of what failed and is tried again.
func (h *health) noteFailure(name string, err error, later bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failing[name] = failure{err, time.Now(), later}
	h.beginTrouble()
	h.logChange(&Fault{Dir: h.dir, Err: err})
}

// noteSuccess takes note of what succeeded.
func (h *health) noteSuccess(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, failing := h.failing[name]; failing {
		delete(h.failing, name)
		h.endTrouble()
	}
}

// forget drops failures that are long past; h.mu is held.
func (h *health) forget() {
	for name, f := range h.failing {
		if f.later && time.Since(f.at) > remembered {
			delete(h.failing, name)
			h.endTrouble()
		}
	}
}

// beginTrouble wakes those who wait for trouble; h.mu is held.
func (h *health) beginTrouble() {
	select {
	case <-h.trouble:
	default:
		close(h.trouble)
	}
}

// endTrouble has them wait again, where nothing fails any more; h.mu is held.
func (h *health) endTrouble() {
	if len(h.failing) == 0 && h.failed == nil {
		h.trouble = make(chan struct{})
	}
}

// report logs what has changed: f is what is wrong now, nil where nothing is.
func (h *health) report(f *Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logChange(f)
}

// logChange is report; h.mu is held.
func (h *health) logChange(f *Fault) {
	switch {
	case f == nil && len(h.logged) > 0:
		clear(h.logged)
		h.log.Info("the data directory can be written again")
	case f != nil && !h.logged[f.kind()]:
		h.logged[f.kind()] = true
		h.log.Error("the data directory cannot be written; reads go on", "error", f)
	}
}
