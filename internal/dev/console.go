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
	mu sync.Mutex
	to io.Writer
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

// told passes on what a server tells, and keeps the end of it, which says why a server has ended.
type told struct {
	to   *console
	hide string // the address of the server, which is nobody's business: it is another one after each change

	mu   sync.Mutex
	rest []byte // of a line that has not ended
	kept []string
}

const mostKept = 60 // lines

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
