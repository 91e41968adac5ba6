package filesource

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/internal/scan"
)

// cursor is a reader somewhere in the lines.
type cursor struct {
	from  io.ReadCloser
	lines *bufio.Reader
	line  uint64 // number of the last line read
	event uint64 // number of the last line read that was not blank
	part  line   // of one whose end has not come yet
}

// line is a line that is not blank.
type line struct {
	text []byte // its beginning: all of it, unless it is too long
	size int    // its bytes, kept or not
	// outline has what tells which event it is, where that may stand behind the text; nil where the text is all.
	outline *scan.Outline
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

// next reads the next line that is not blank. Of lines after the given one it keeps what the source does. io.EOF may be
// passing, and the context may end amid a line; what was read of it by then is kept.
func (s *Source) next(ctx context.Context, c *cursor, after uint64) (line, error) {
	for {
		if err := ctx.Err(); err != nil {
			return line{}, err
		}
		piece, err := c.lines.ReadSlice('\n')
		blank := c.part.size == 0 && len(bytes.TrimSpace(piece)) == 0
		if !blank {
			s.keep(&c.part, piece, c.line+1 > after)
		}
		switch {
		case err == nil, err == io.EOF && c.part.size > 0:
			c.line++
			if blank {
				continue
			}
			c.event = c.line
			read := c.part
			c.part = line{}
			return read, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{}, err
		}
	}
}

// keep adds a piece to the line that is being read.
func (s *Source) keep(l *line, piece []byte, wanted bool) {
	rest := bytes.TrimSuffix(piece, []byte("\n"))
	l.size += len(rest)
	if !wanted {
		return
	}
	fits := min(len(rest), s.longest-len(l.text))
	l.text, rest = append(l.text, rest[:fits]...), rest[fits:]
	if len(rest) == 0 {
		return
	}
	if l.outline == nil {
		l.outline = scan.NewOutline(s.identity())
		l.outline.Add(l.text)
	}
	l.outline.Add(rest)
}

// identity are the paths in a line at which it says which event it is.
func (s *Source) identity() [][]string {
	if s.mapping != nil {
		return s.mapping.Fields()
	}
	return cloudevents.Identity()
}
