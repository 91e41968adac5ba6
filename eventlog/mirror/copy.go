package mirror

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
)

const (
	batchBytes = 4 << 20 // of events that are copied at once, as large as they are typically
	mostEvents = 500     // that are
	firstBatch = 50      // events
)

// size is how many events to copy at once.
func (p *partition) size() int {
	if p.eventSize == 0 {
		return firstBatch
	}
	return min(max(batchBytes/p.eventSize, 1), mostEvents)
}

// copy copies one batch of a partition, and reports whether that was anything.
func (c *copier) copy(ctx context.Context, name string) (copied bool, err error) {
	p, _ := c.state.at(name)
	if eventlog.Replaced(p.err) {
		return false, p.err
	}
	before := p
	events, err := c.next(ctx, name, &p)
	if err == nil && (len(events) > 0 || p.standing != before.standing || !before.met) {
		err = c.commit(name, events, p)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.fail(ctx, name, err)
		}
		return false, err
	}
	copied = p.Through > before.Through
	if before.err != nil && (copied || eventlog.ForgottenIn(before.err) == nil) { // a wait may have said it, not a read
		c.state.change(name, func(p *partition) { p.err = nil })
	}
	return copied, nil
}

// next reads what follows the copy, and brings p to what it is with that.
func (c *copier) next(ctx context.Context, name string, p *partition) ([]eventlog.Event, error) {
	incarnation := ""
	if !p.met {
		var err error
		if incarnation, err = eventlog.IncarnationOf(ctx, c.src, name); err != nil {
			return nil, err
		}
	}
	events, err := c.src.Read(ctx, name, p.Through, p.size())
	through := p.Through
	switch {
	case err == nil && len(events) == 0:
		through, err = eventlog.EmptyThrough(ctx, c.src, name, p.Through)
	case err == nil:
		through, p.eventSize = events[len(events)-1].Offset, sizeOf(events)
	}
	// after the read, for the source itself compares from then on
	if !p.met && (err == nil || eventlog.ForgottenIn(err) != nil) {
		if other := c.compare(ctx, name, p, incarnation); other != nil {
			return nil, other
		}
	}
	if lost := eventlog.ForgottenIn(err); lost != nil {
		return nil, c.skip(p, lost)
	}
	if err != nil {
		return nil, fmt.Errorf("copy partition %q after offset %d: %w", name, p.Through, err)
	}
	p.Through, p.Head = through, max(p.Head, through)
	return events, nil
}

// skip lets a copy of nothing begin where the source does: what is before that, it has forgotten for everybody. A copy
// that has begun has no gaps.
func (c *copier) skip(p *partition, lost *eventlog.ForgottenError) error {
	if p.Through == p.Begin && lost.First > p.Through {
		p.Begin, p.Through = lost.First-1, lost.First-1
		return nil
	}
	return fmt.Errorf("the copy of the events in %s has come to offset %d, and goes on without a gap only: %w; bring the "+
		"events back, or, if the copy is not needed for what is before them, stop the server and move that directory away",
		c.store.dir, p.Through, lost)
}

// sizeOf is what one of the events typically takes, in bytes.
func sizeOf(events []eventlog.Event) int {
	const rest = 200 // of the texts
	total := 0
	for i := range events {
		total += len(events[i].Data) + len(events[i].Envelope) + rest
	}
	return total / len(events)
}

// compare compares a partition with the one that was copied, where that was another process: a log may have been made
// anew meanwhile, or have lost its end and got another.
func (c *copier) compare(ctx context.Context, name string, p *partition, incarnation string) error {
	is, err := eventlog.IncarnationOf(ctx, c.src, name)
	if err != nil {
		return err
	}
	if is != incarnation {
		return fmt.Errorf("partition %q was made anew while it was read", name)
	}
	if _, copied := c.state.at(name); !copied {
		p.Incarnation, p.met = is, true
		return nil
	}
	reason, err := c.differs(ctx, name, is)
	if err != nil {
		return err
	}
	if reason != "" {
		return &eventlog.ReplacedError{Partition: name, Reason: reason}
	}
	p.met = true
	return nil
}

// differs says how the source differs from what was copied of it, "" where it does not.
func (c *copier) differs(ctx context.Context, name, incarnation string) (string, error) {
	p, _ := c.state.at(name)
	if incarnation != p.Incarnation {
		return fmt.Sprintf("the copy in %s is of another log, or of one that was made anew since: its identity is %q, and "+
			"that of the source %q", c.store.dir, p.Incarnation, incarnation), nil
	}
	head, err := c.src.Head(ctx, name)
	if err != nil {
		return "", err
	}
	if head < p.Through {
		return fmt.Sprintf("the copy in %s has come to offset %d, and the source ends at %d", c.store.dir, p.Through,
			head), nil
	}
	last, err := c.store.records.last(name, p.Through)
	if last == nil || err != nil {
		return "", err
	}
	there, err := c.src.Read(ctx, name, last.Offset-1, 1)
	switch {
	case eventlog.ForgottenIn(err) != nil:
		return "", nil
	case err != nil:
		return "", err
	case len(there) == 0 || there[0].Offset != last.Offset || there[0].Malformed != nil:
		return "", nil // it was deleted, or other bounds hold now, and nothing tells whether it is the same
	case last.MessageHash != "" && last.MessageHash == there[0].MessageHash:
		return "", nil // though a mapping may make another event of it than it did
	case eventlog.ContentHash(&there[0]) != eventlog.ContentHash(last):
		return fmt.Sprintf("the source has another event at offset %d than the copy in %s", last.Offset, c.store.dir), nil
	}
	return "", nil
}

// commit makes events, and how far the partition is copied with them, durable, and then lets them be read.
func (c *copier) commit(name string, events []eventlog.Event, p partition) error {
	if err := c.store.writable(); err != nil {
		return err
	}
	return c.store.unwritable(c.store.disk.Run(func() error {
		c.store.writing.Lock()
		defer c.store.writing.Unlock()
		if now, _ := c.state.at(name); now.Through > p.Through {
			return nil // what an earlier commit has waited with for the disk, and has written by now
		}
		if err := c.store.records.write(name, events, p.standing); err != nil {
			return fmt.Errorf("write to the copy of the events in %s: %w", c.store.dir, err)
		}
		c.state.change(name, func(now *partition) {
			head := max(now.Head, p.Head)
			now.standing, now.met, now.eventSize = p.standing, p.met, p.eventSize
			now.Head = head
		})
		return nil
	}))
}
