package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
)

// Pauses before the source is asked again.
const (
	leastPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// copier copies what a source has.
type copier struct {
	src   eventlog.Source
	store *store
	state *state
	ended chan struct{} // closed when it has
}

// follow copies what comes until the context or the source ends.
func (c *copier) follow(ctx context.Context) {
	defer close(c.ended)
	for failures := 0; ; {
		err := c.round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, io.EOF):
			c.state.end()
			return
		case err == nil:
			failures = 0
			continue
		}
		c.note(err)
		if backoff.Wait(ctx, backoff.Delay(leastPause, mostPause, failures)) != nil {
			return
		}
		failures++
	}
}

// note notes, and logs where it changes, whether the source can be copied.
func (c *copier) note(err error) {
	before, _ := c.state.set(err)
	switch {
	case err != nil && before == nil:
		c.store.log.Warn("the source of the events cannot be copied; what is copied is there to be read", "error", err)
	case err == nil && before != nil:
		c.store.log.Info("the source of the events is copied again")
	}
}

// round copies all that there is, one batch of each partition after the other, and waits for more.
func (c *copier) round(ctx context.Context) error {
	names, err := c.src.Partitions(ctx)
	if err != nil {
		return fmt.Errorf("list the partitions: %w", err)
	}
	c.miss(ctx, names)
	for {
		more, lost, err := c.sweep(ctx, names)
		if err == nil {
			err = c.noteWhole(names)
		}
		if err != nil {
			return err
		}
		c.note(nil)
		if more {
			continue
		}
		if lost { // a wait for what follows the copy would end at once
			return backoff.Wait(ctx, mostPause)
		}
		return c.wait(ctx, names)
	}
}

// wait waits for more. A source that is a copy itself says there which of its partitions it cannot go on with, and why:
// nothing follows the copy of that one, and the others are copied nonetheless.
func (c *copier) wait(ctx context.Context, names []string) error {
	err := c.src.Wait(ctx, c.positions(names))
	lost := eventlog.ForgottenIn(err)
	if lost == nil || !slices.Contains(names, lost.Partition) {
		return err
	}
	c.fail(ctx, lost.Partition, err)
	return backoff.Wait(ctx, mostPause)
}

// noteWhole notes that every partition has been copied from, if that is so.
func (c *copier) noteWhole(names []string) error {
	if !c.state.isPartial() {
		return nil
	}
	for _, name := range names {
		if _, copied := c.state.at(name); !copied {
			return fmt.Errorf("partition %q is another than it was when it was listed", name)
		}
	}
	if err := c.store.setWhole(); err != nil {
		return err
	}
	c.state.setWhole()
	return nil
}

// sweep copies one batch of each partition. It reports whether that was anything, and whether nothing ever follows the
// copy of some: the others are copied nonetheless.
func (c *copier) sweep(ctx context.Context, names []string) (more, lost bool, failed error) {
	for _, name := range names {
		copied, err := c.copy(ctx, name)
		switch {
		case err == nil:
			more = more || copied
		case eventlog.Replaced(err), eventlog.ForgottenIn(err) != nil:
			lost = true
		default:
			failed = cmp.Or(failed, err)
		}
	}
	return more, lost, failed
}

// positions are those up to which the partitions are copied.
func (c *copier) positions(names []string) eventlog.Offsets {
	at := eventlog.Offsets{}
	for _, name := range names {
		p, _ := c.state.at(name)
		at[name] = p.Through
	}
	return at
}

// miss notes which of the partitions that were copied the source has no more.
func (c *copier) miss(ctx context.Context, names []string) {
	for _, name := range c.state.names() {
		if !slices.Contains(names, name) {
			c.fail(ctx, name, &eventlog.ReplacedError{Partition: name, Reason: "there is no partition of that name any more"})
		}
	}
}

// fail notes why nothing follows the copy of a partition. That it is another stays so.
func (c *copier) fail(ctx context.Context, name string, err error) {
	p, copied := c.state.at(name)
	if !copied || eventlog.Replaced(p.err) {
		return
	}
	is := ""
	switch {
	case eventlog.Replaced(err):
		c.store.log.Error("the source of the events is another than the one that was copied; nothing more is copied",
			"error", err)
		is, _ = eventlog.IncarnationOf(ctx, c.src, name) // without an answer, it is none of those that were copied either
	case eventlog.ForgottenIn(err) != nil && eventlog.ForgottenIn(p.err) == nil:
		c.store.log.Error("events are not copied", "dir", c.store.dir, "error", err)
	}
	c.state.change(name, func(p *partition) { p.err, p.is = err, is })
}
