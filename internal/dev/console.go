package dev

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// console is where all is told, each line whole.
type console struct {
	mu      sync.Mutex
	to      io.Writer
	letters sync.Once // what to do about dead letters is told
}

// Write implements io.Writer.
func (c *console) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to.Write(text)
}

// say tells what this program does.
func (c *console) say(format string, args ...any) {
	fmt.Fprintf(c, "foldql dev: "+format+"\n", args...)
}

// wholeLines passes lines on as they end. A terminal that is gone ends nothing that tells them.
type wholeLines struct {
	to   io.Writer
	rest []byte
}

// Write implements io.Writer.
func (w *wholeLines) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	if end := bytes.LastIndexByte(w.rest, '\n') + 1; end > 0 {
		_, _ = w.to.Write(w.rest[:end])
		w.rest = w.rest[end:]
	}
	return len(text), nil
}

// end passes on the last line, which need not end.
func (w *wholeLines) end() {
	if len(w.rest) > 0 {
		_, _ = w.Write([]byte("\n"))
	}
}

// told passes on what a server tells, and keeps the end of it, which says why a server has ended.
type told struct {
	to   *console
	hide string // the address of the server, which is nobody's business: it is another one after each change
	list string // the command that lists dead letters

	mu      sync.Mutex
	rest    []byte // of a line that has not ended
	kept    []string
	held    []string // warnings of rows of former code, until it is known who does something about them
	onStale staleWarnings
}

const mostKept = 60 // lines

// codeWarning is in the line in which a server tells what to do about rows of former code.
const codeWarning = "the code of the projectors (package"

// letterWarning is in the line in which a server tells that it could not fold an event.
const letterWarning = "event became a dead letter"

// staleWarnings says what becomes of such lines.
type staleWarnings int

const (
	holdStale staleWarnings = iota // until that is known
	passStale
	dropStale // this program does it
)

// Write implements io.Writer.
func (t *told) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, text...)
	for {
		line, rest, whole := bytes.Cut(t.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		t.line(string(line))
		t.rest = rest
	}
}

// line passes a line on. A terminal that is gone must not end the server.
func (t *told) line(line string) {
	if strings.Contains(line, t.hide) && strings.Contains(line, "listening") {
		return
	}
	if strings.Contains(line, codeWarning) {
		switch t.onStale {
		case holdStale:
			t.held = append(t.held, line)
			return
		case dropStale:
			return
		}
	}
	t.pass(line)
	if strings.Contains(line, letterWarning) {
		t.to.letters.Do(func() {
			t.to.say("an event that is accepted could not be folded, and is not in the rows; to list such events, and why, "+
				"run:\n  %s", t.list)
		})
	}
}

// decide says what becomes of warnings of rows of former code, of those that were held as well.
func (t *told) decide(what staleWarnings) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.held {
		if what == passStale {
			t.pass(line)
		}
	}
	t.onStale, t.held = what, nil
}

func (t *told) pass(line string) {
	_, _ = io.WriteString(t.to, line+"\n")
	if t.kept = append(t.kept, line); len(t.kept) > mostKept {
		t.kept = t.kept[1:]
	}
}

// last is what a server has told last.
func (t *told) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.Join(t.kept, "\n") + "\n" + string(t.rest))
}
