package filesource

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// spool is standard input as far as it has come: a goroutine copies whole lines of it to a temporary file.
type spool struct {
	file *os.File

	mu     sync.Mutex
	size   int64         // bytes that may be read: whole lines, or all
	event  uint64        // number of the last line in them that is not blank
	done   bool          // no more will come
	err    error         // why, where it is not the end
	signal chan struct{} // closed, and another made, at each change
}

func newSpool(from io.Reader) (*spool, error) {
	f, err := os.CreateTemp("", "foldql-stdin-*")
	if err != nil {
		return nil, err
	}
	// The name is not needed: without it, the file goes when it is closed, however the program ends.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &spool{file: f, signal: make(chan struct{})}
	go s.fill(from)
	return s, nil
}

// fill copies until the input ends, cannot be read, or the spool is closed, which it notices with the next line.
func (s *spool) fill(from io.Reader) {
	text, err := plain(from)
	if err != nil {
		s.stop(err)
		return
	}
	s.stop(s.copy(bufio.NewReaderSize(text, 64<<10)))
}

// copy returns why it ended, io.EOF where the input did.
func (s *spool) copy(lines *bufio.Reader) error {
	to := bufio.NewWriterSize(s.file, 64<<10)
	var count lineCount
	for {
		piece, err := lines.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err // the piece is no line: it has been cut off
		}
		count.add(piece, err != bufio.ErrBufferFull)
		if _, err := to.Write(piece); err != nil {
			return err
		}
		if err == bufio.ErrBufferFull || err == nil && moreLines(lines) {
			continue
		}
		if err := to.Flush(); err != nil {
			return err
		}
		s.publish(count)
		if err != nil {
			return err
		}
	}
}

// moreLines reports whether another whole line has come already, so that publishing can wait for it.
func moreLines(lines *bufio.Reader) bool {
	next, _ := lines.Peek(lines.Buffered()) // cannot fail: so much is there
	return bytes.IndexByte(next, '\n') >= 0
}

// lineCount counts what has been copied.
type lineCount struct {
	size        int64
	line, event uint64
	text        bool // the line so far is not blank
}

// add counts a piece of a line.
func (c *lineCount) add(piece []byte, ends bool) {
	c.size += int64(len(piece))
	c.text = c.text || len(bytes.TrimSpace(piece)) > 0
	if !ends {
		return
	}
	c.line++
	if c.text {
		c.event = c.line
	}
	c.text = false
}

// publish lets what has been written be read.
func (s *spool) publish(c lineCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.event = c.size, c.event
	s.announce()
}

func (s *spool) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if !errors.Is(err, io.EOF) {
		s.err = err
	}
	s.announce()
}

// announce wakes whoever waits; s.mu is held.
func (s *spool) announce() {
	close(s.signal)
	s.signal = make(chan struct{})
}

func (s *spool) open() (io.ReadCloser, error) { return &spoolReader{spool: s}, nil }

func (s *spool) progress() progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return progress{head: s.event, counted: true, final: s.done, err: s.err, changed: s.signal}
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.announce()
	return s.file.Close()
}

// spoolReader reads what has come so far; its io.EOF is passing until the spool is done.
type spoolReader struct {
	spool *spool
	at    int64
}

func (r *spoolReader) Read(b []byte) (int, error) {
	r.spool.mu.Lock()
	size, err := r.spool.size, r.spool.err
	r.spool.mu.Unlock()
	if r.at >= size {
		if err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := r.spool.file.ReadAt(b[:min(int64(len(b)), size-r.at)], r.at)
	r.at += int64(n)
	return n, err
}

func (r *spoolReader) Close() error { return nil }
