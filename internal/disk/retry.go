package disk

import (
	"strings"
	"time"
)

// walSuffix is how the names of files of recent writes end.
const walSuffix = ".log"

// isTable reports whether the file is one that the engine creates again where writing them fails: it frees the
// space of the former.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// Pauses between attempts.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// retry does what writes to the file, again and again while it fails. That of a table fails after a pause.
func (h *health) retry(name string, do func() error) error {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		h.enter()
		err := do()
		if err == nil {
			h.noteSuccess(kindOf(name))
			return nil
		}
		if isTable(name) {
			return h.failTable(err)
		}
		if !h.isOpened() {
			return err
		}
		h.noteFailure(name, err, false)
		time.Sleep(wait)
	}
}

// failTable has what writes a table fail after a pause: the engine begins another at once, also while it opens the
// store.
func (h *health) failTable(err error) error {
	h.noteFailure(tables, err, true)
	time.Sleep(lastPause)
	return err
}

// enter comes before whatever changes the directory, and does not return once nobody holds that any more: it may be
// another's by now, and the engine, which was left running, would remove what it does not know.
func (h *health) enter() {
	if h.isClosed() {
		park()
	}
}

// What files have in common with those that are made or opened in their place.
const (
	tables = "tables"
	reads  = "reads"
)

func kindOf(name string) string {
	if isTable(name) {
		return tables
	}
	return name
}

// park never returns. It is for writes of a store that was left: told of an error the engine would end the process.
func park() { <-make(chan struct{}) }
