// Package filesource reads events from a file of JSON lines, plain or gzipped, or from standard input.
//
// A file has one partition, "0". The offset of an event is the number of its line; blank lines are passed over. A line
// that is no event is delivered as a malformed one, so that it is not lost. The file is taken to be complete: it has an
// end, and Wait answers io.EOF there. That each (source, id) occurs once is up to the file.
//
// A [Dir] reads a directory of such files, each of which is a partition: what was exported of a log with partitions.
//
// Standard input is spooled to a temporary file while it comes in, so that it can be read by several readers and again
// from an earlier position; it takes as much disk as there is input.
package filesource

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/payload"
)

// Partition is the name of the one partition of a file.
const Partition = "0"

// Options configure a Source.
type Options struct {
	Path    string    // of the file, "-" for Stdin
	Stdin   io.Reader // read where Path is "-", os.Stdin where nil; not closed
	MaxSize int       // bytes of one event, cloudevents.DefaultMaxSize where 0
	// Mapping makes events of lines that are no CloudEvents, nil where all are.
	Mapping *payload.Mapping
}

// Source is an eventlog.Source that also knows its Head.
type Source struct {
	name      string
	partition string
	input     input
	decoder   cloudevents.Decoder
	mapping   *payload.Mapping
	longest   int // bytes of a line that are kept

	mu     sync.Mutex
	idle   []*cursor // the one used last is the last
	end    uint64    // offset of the last event, once it is known
	ended  bool      // it is known
	closed bool
}

// input is where the lines come from.
type input interface {
	// open returns a reader from the start on. Its io.EOF is passing unless progress was final before.
	open() (io.ReadCloser, error)
	progress() progress
	close() error
}

// progress is what is known of an input without reading it.
type progress struct {
	head    uint64 // number of the last line so far that is not blank
	counted bool   // head is known; where not, it takes a pass
	final   bool   // nothing will come after what has come so far
	err     error  // why nothing will come, where that is not the end of the input
	changed <-chan struct{}
}

// Open opens the source.
func Open(o Options) (*Source, error) {
	s := &Source{name: o.Path, partition: Partition, mapping: o.Mapping,
		decoder: cloudevents.Decoder{MaxSize: o.MaxSize}, longest: o.MaxSize}
	if s.longest <= 0 {
		s.longest = cloudevents.DefaultMaxSize
	}
	if o.Path == "-" {
		s.name = "standard input"
		if o.Stdin == nil {
			o.Stdin = os.Stdin
		}
		spool, err := newSpool(o.Stdin)
		if err != nil {
			return nil, fmt.Errorf("read events from standard input: %w", err)
		}
		s.input = spool
		return s, nil
	}
	s.input = file(o.Path)
	c, err := s.openCursor()
	if err != nil {
		return nil, err
	}
	s.idle = append(s.idle, c)
	return s, nil
}

// Partitions implements eventlog.Source.
func (s *Source) Partitions(ctx context.Context) ([]string, error) {
	if err := s.usable(ctx, s.partition); err != nil {
		return nil, err
	}
	return []string{s.partition}, nil
}

func (s *Source) usable(ctx context.Context, partition string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return eventlog.ErrClosed
	}
	if partition != s.partition {
		return fmt.Errorf("read partition %q of %s: it has %q only", partition, s.name, s.partition)
	}
	return ctx.Err()
}

// Read implements eventlog.Source. Reading on from where some reader stopped costs nothing; any other position is
// reached by passing over the lines before it. For several readers, wrap the source in a shared.Source.
func (s *Source) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if err := s.usable(ctx, partition); err != nil {
		return nil, err
	}
	if known, end := s.known(); most <= 0 || known && after >= end {
		return nil, nil
	}
	c, err := s.cursor(after)
	if err != nil {
		return nil, err
	}
	events, err := s.read(ctx, c, after, most)
	if err == nil {
		s.release(c)
		return events, nil
	}
	c.close()
	if closed := s.usable(ctx, partition); closed != nil {
		return nil, closed // which is why the reading failed
	}
	if len(events) > 0 {
		return events, nil // the fault behind them is the next reader's
	}
	return nil, err
}

// readBytes is how many bytes of lines one Read takes at most, give or take a line.
const readBytes = 4 << 20

// read takes events from the cursor, which stands at or before the position. Beside an error it returns what stands
// before the fault.
func (s *Source) read(ctx context.Context, c *cursor, after uint64, most int) (events []eventlog.Event, err error) {
	for size := 0; len(events) < most && size < readBytes; {
		if known, end := s.known(); known && c.event >= end {
			break // a line behind it was written afterwards, and may be half written
		}
		final := s.input.progress().final // asked first: what comes in between is then read
		line, err := s.next(ctx, c, after)
		if err == io.EOF {
			if !final {
				break
			}
			if end := s.setEnd(c.event); c.event < end {
				return events, &eventlog.ReplacedError{Partition: s.partition, Reason: fmt.Sprintf("%s has had %d lines, and "+
					"has %d now", s.name, end, c.event)}
			}
			break
		}
		if err != nil {
			return events, fmt.Errorf("read line %d of %s: %w", c.line+1, s.name, err)
		}
		if c.event > after {
			if events == nil {
				events = make([]eventlog.Event, 0, min(most, mostReserved))
			}
			events = append(events, s.event(c.event, &line))
			size += len(line.text)
		}
	}
	return events, nil
}

// mostReserved is for how many events memory is made ready at once.
const mostReserved = 4096

// event makes an event of a line.
func (s *Source) event(number uint64, l *line) eventlog.Event {
	text := l.text
	if l.outline != nil {
		text = l.outline.Text()
	}
	e, err := s.decode(number, text)
	if l.outline != nil { // of which there is no more than what it says of the event
		e.MessageHash = ""
		err = fmt.Errorf("%w: %d bytes, more than %d", cloudevents.ErrTooLarge, l.size, s.longest)
	}
	if err != nil {
		e.Data = l.text
		if l.outline == nil {
			e.Envelope = []byte(wholeLine)
		}
		e.Malformed = fmt.Errorf("line %d of %s: %w", number, s.name, err)
	}
	e.Partition, e.Offset = s.partition, number
	return e
}

// decode reads an event, or a message that the mapping makes one of.
func (s *Source) decode(number uint64, text []byte) (eventlog.Event, error) {
	if s.mapping == nil {
		return s.decoder.Decode(text)
	}
	return s.mapping.Event(s.decoder, &payload.Message{Body: text, Partition: s.partition, Offset: number})
}

// Wait implements eventlog.Source.
func (s *Source) Wait(ctx context.Context, after eventlog.Offsets) error {
	for {
		if err := s.usable(ctx, s.partition); err != nil {
			return err
		}
		p := s.progress()
		switch {
		case !p.counted || after[s.partition] < p.head:
			return nil // where it is not known, a Read will find out
		case p.err != nil:
			return fmt.Errorf("read %s: %w", s.name, p.err)
		case p.final:
			return io.EOF
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
		}
	}
}

// Head implements eventlog.Source. The first call reads a file to its end; of standard input it is what has come so
// far.
func (s *Source) Head(ctx context.Context, partition string) (uint64, error) {
	if err := s.usable(ctx, partition); err != nil {
		return 0, err
	}
	if p := s.progress(); p.counted {
		return p.head, nil
	}
	c, err := s.openCursor()
	if err != nil {
		return 0, err
	}
	defer c.close()
	if _, err := s.read(ctx, c, ^uint64(0), 1); err != nil {
		return 0, err
	}
	_, end := s.known()
	return end, nil
}

// progress is that of the input, or what a reader that came to the end has found.
func (s *Source) progress() progress {
	p := s.input.progress()
	if known, end := s.known(); known {
		p.head, p.counted = end, true
	}
	return p
}

func (s *Source) known() (bool, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended, s.end
}

// setEnd fixes the end, and returns it; lines that are written to the file afterwards do not count.
func (s *Source) setEnd(event uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.end = true, event
	}
	return s.end
}

// Close implements eventlog.Source.
func (s *Source) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	if err := s.input.close(); err != nil {
		return fmt.Errorf("close %s: %w", s.name, err)
	}
	return nil
}
