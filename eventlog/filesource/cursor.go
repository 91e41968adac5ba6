package filesource

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// cursor is a reader somewhere in the lines.
type cursor struct {
	from  io.ReadCloser
	lines *bufio.Reader
	line  uint64 // number of the last line read
	event uint64 // number of the last line read that was not blank
	part  []byte // of a line whose end has not come yet
	whole int    // bytes of that line so far, kept or not
}

// maxIdle is how many cursors wait for their reader to come back.
const maxIdle = 8

func (s *Source) openCursor() (*cursor, error) {
	from, err := s.input.open()
	if err != nil {
		return nil, fmt.Errorf("read events from %s: %w", s.name, err)
	}
	return &cursor{from: from, lines: bufio.NewReaderSize(from, 64<<10)}, nil
}

func (c *cursor) close() { c.from.Close() } // it was only read from: nothing can be lost

// cursor returns the idle cursor that stands nearest before what follows the position, or else a new one.
func (s *Source) cursor(after uint64) (*cursor, error) {
	s.mu.Lock()
	best := -1
	for i, c := range s.idle {
		if c.event <= after && (best < 0 || c.event > s.idle[best].event) {
			best = i
		}
	}
	if best >= 0 {
		c := s.idle[best]
		s.idle = append(s.idle[:best], s.idle[best+1:]...)
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	return s.openCursor()
}

// release keeps the cursor for the next Read.
func (s *Source) release(c *cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.close()
		return
	}
	s.idle = append(s.idle, c)
	if len(s.idle) > maxIdle {
		s.idle[0].close()
		s.idle = s.idle[1:]
	}
}

// next reads the next line that is not blank. Of lines after the given one it returns a copy, of at most longest bytes,
// and how long the line is. io.EOF may be passing, and the context may end amid a line; what was read of it by then is
// kept.
func (c *cursor) next(ctx context.Context, longest int, after uint64) (line []byte, whole int, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		piece, err := c.lines.ReadSlice('\n')
		blank := c.whole == 0 && len(bytes.TrimSpace(piece)) == 0
		if !blank {
			c.keep(piece, longest, c.line+1 > after)
		}
		switch {
		case err == nil, err == io.EOF && c.whole > 0:
			c.line++
			if blank {
				continue
			}
			c.event = c.line
			line, whole = c.part, c.whole
			c.part, c.whole = nil, 0
			return line, whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, err
		}
	}
}

// keep adds a piece to the line that is being read.
func (c *cursor) keep(piece []byte, longest int, wanted bool) {
	text := bytes.TrimSuffix(piece, []byte("\n"))
	c.whole += len(text)
	if wanted {
		c.part = append(c.part, text[:min(len(text), longest-len(c.part))]...)
	}
}
