package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/search"
)

type show struct {
	place
	Event  string `arg:"" help:"Where the event stands, PARTITION:OFFSET or as 'deadletters list' has it; or else its id, which takes a pass through the log."`
	ID     bool   `name:"id" help:"The event is named by its id, whatever it looks like."`
	Source string `help:"Source of the event with that id, where several have one." placeholder:"SOURCE"`
}

// Run prints the event on standard output, and where it stands on standard error.
func (c *show) Run(ctx context.Context, p *commands.Program) error {
	return c.read(p, func(from *client.Client) error {
		found, err := c.find(ctx, from)
		if err != nil {
			return fmt.Errorf("show event %.200q: %w", c.Event, err)
		}
		return found.print(p)
	})
}

// find looks for the event at its place, where it is named by one that there is, and else by its id.
func (c *show) find(ctx context.Context, from *client.Client) (*event, error) {
	partition, offset, placed := search.ParseRef(c.Event)
	if !placed || offset == 0 || c.ID || c.Source != "" {
		return c.byID(ctx, from)
	}
	found, err := c.at(ctx, from, partition, offset)
	if answer := (*client.Error)(nil); errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		return c.byID(ctx, from) // which only looks like a place
	}
	return found, err
}

func (c *show) at(ctx context.Context, from *client.Client, partition string, offset uint64) (*event, error) {
	r := &reading{from: from, limit: 1, query: search.Query{
		From: eventlog.Offsets{partition: offset - 1}, UpTo: eventlog.Offsets{partition: offset},
	}}
	page, err := r.page(ctx)
	if err != nil {
		return nil, err
	}
	if len(page.Events) == 0 {
		return nil, missing(page, partition, offset)
	}
	return (*event)(&page.Events[0]), nil
}

// missing says why there is no event at a place, of which the page is.
func missing(page *search.Page, partition string, offset uint64) error {
	const others = "'server events search' lists events, and --id looks for one of that id"
	switch {
	case len(page.Unread) > 0:
		return errors.New("it is not in the copy, and the source of that does not answer: start the server that keeps the " +
			"copy, and ask again when it has the event")
	case len(page.Forgotten) > 0:
		return errors.New("its source has forgotten what stood at that place; " + others)
	case page.UpTo[partition] < offset:
		return fmt.Errorf("there is none at that place, and the partition ends at %s; %s", search.FormatPosition(page.UpTo),
			others)
	}
	return errors.New("there is none at that place, though the partition reaches that far; " + others)
}

// byID goes through the log: to its end, unless the source is given, because ids are unique within a source only.
func (c *show) byID(ctx context.Context, from *client.Client) (*event, error) {
	r := &reading{from: from, query: search.Query{ID: c.Event, Source: c.Source}}
	if c.Source != "" {
		r.limit = 1
	}
	var found *event
	err := r.each(ctx, func(page *search.Page) error {
		for i := range page.Events {
			next := (*event)(&page.Events[i])
			if found != nil {
				return fmt.Errorf("several events have that id, of source %.200q and of source %.200q; name one by --source, "+
					"or by its place: %s or %s", found.source(), next.source(), found.ref(), next.ref())
			}
			found = next
		}
		return nil
	})
	if err == nil && found == nil {
		err = errors.New("no event has that id; 'server events search' lists events")
	}
	return found, err
}

// event is what was found.
type event search.Found

func (e *event) ref() string { return (*search.Found)(e).Ref() }

func (e *event) source() string {
	var a attributes
	_ = json.Unmarshal(e.Event, &a) // an event that cannot be read is of no known source
	return a.Source
}

// print prints the event with its data laid out, or what stands in its place.
func (e *event) print(p *commands.Program) error {
	fmt.Fprintf(p.Stderr, "partition %q, offset %d: %s\n", e.Partition, e.Offset, e.ref())
	if e.Event == nil {
		fmt.Fprintf(p.Stdout, "%q\n", e.Text)
		return fmt.Errorf("what stands at %s is no event: %s; correct it where the events come from", e.ref(), e.Malformed)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, e.Event, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "%s\n", text.Bytes())
	return err
}
