package server

import (
	"context"
	"fmt"
	"sync"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// claimSource binds the rows to the kind of source that they are folded from: a checkpoint in a file means nothing in
// the log.
func claimSource(ctx context.Context, db *querydb.DB, store storePlace, source sourcePlace) error {
	kind, err := keepFirst(ctx, db, sourceNote, []byte(source.kind))
	if err == nil && string(kind) != source.kind {
		err = wrongConfig("events", "the rows of %s are folded from %s:, not from %s:; choose that, or another store",
			store, kind, source.kind)
	}
	return err
}

// claimed is a source to whose events the rows are bound, which the first one tells: what a checkpoint counts in one file
// means nothing in another, whose events would be passed over unseen. A source that is empty is claimed when its first event
// has come, before that is handed out.
type claimed struct {
	eventlog.Source
	db    *querydb.DB
	store storePlace

	mu   sync.Mutex
	done bool
}

// claimEvents claims what there is. It refuses a source that begins with other events than the rows are folded from.
func claimEvents(ctx context.Context, db *querydb.DB, store storePlace, src eventlog.Source) (*claimed, error) {
	c := &claimed{Source: src, db: db, store: store}
	return c, c.claim(ctx)
}

// Read implements eventlog.Source.
func (c *claimed) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	events, err := c.Source.Read(ctx, partition, after, most)
	if err == nil && len(events) > 0 {
		err = c.claim(ctx)
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// Head implements eventlog.Head.
func (c *claimed) Head(ctx context.Context, partition string) (uint64, error) {
	return head(ctx, c.Source, partition)
}

func (c *claimed) claim(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return nil
	}
	first, err := firstEvent(ctx, c.Source)
	if err != nil || first == "" {
		return err
	}
	known, err := keepFirst(ctx, c.db, firstNote, []byte(first))
	if err != nil {
		return err
	}
	if string(known) != first {
		return wrongConfig("events", "the rows of %s are folded from events that begin with %s, and these begin with %s; "+
			"choose those, or another store", c.store, known, first)
	}
	c.done = true
	return nil
}

// firstEvent names the first event that there is now, "" where there is none, or it is none that has a name.
func firstEvent(ctx context.Context, src eventlog.Source) (string, error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return "", fmt.Errorf("list the partitions of the events: %w", err)
	}
	for _, p := range partitions {
		events, err := src.Read(ctx, p, 0, 1)
		if err != nil {
			return "", fmt.Errorf("read the first event: %w", err)
		}
		if len(events) > 0 && events[0].Malformed == nil {
			return fmt.Sprintf("%q of %q", events[0].ID, events[0].Source), nil
		}
	}
	return "", nil
}
