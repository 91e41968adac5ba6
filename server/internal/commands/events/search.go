package events

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/search"
)

type searchEvents struct {
	place
	filter
	Limit int  `help:"Number of events to list at most, 0 for all." default:"100"`
	JSON  bool `name:"json" help:"Print one JSON object a line, with the whole event."`
}

// Run prints what it finds page by page.
func (c *searchEvents) Run(ctx context.Context, p *commands.Program) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return config.Wrong("limit", "%d is negative; give 0 for all events", c.Limit)
	}
	return c.read(p, func(from *client.Client) error {
		r := &reading{from: from, query: q, limit: c.Limit}
		list := c.table
		if c.JSON {
			list = c.lines
		}
		if err := r.each(ctx, func(page *search.Page) error { return list(p.Stdout, page, r.found == 0) }); err != nil {
			return fmt.Errorf("search events: %w", err)
		}
		at := search.FormatPosition(r.query.From)
		found := plural.Count(r.found, "event")
		if r.more {
			fmt.Fprintf(p.Stderr, "%s; for those that follow, add --from %s\n", found, at)
		} else {
			fmt.Fprintf(p.Stderr, "%s; searched to the end of the log, %s\n", found, at)
		}
		return nil
	})
}

func (c *searchEvents) lines(to io.Writer, page *search.Page, _ bool) error {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	for i := range page.Events {
		if err := lines.Encode(&page.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// attributes are those of an event that the table has.
type attributes struct{ ID, Source, Type, Subject, Time string }

// table prints a page, under a head where it is the first. Each page has columns of its own width: it is printed
// before the next one comes.
func (c *searchEvents) table(to io.Writer, page *search.Page, first bool) error {
	if len(page.Events) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if first {
		fmt.Fprintln(w, "EVENT\tTIME\tTYPE\tSUBJECT\tSOURCE\tID")
	}
	for i := range page.Events {
		f := &page.Events[i]
		if f.Event == nil {
			fmt.Fprintf(w, "%s\tno event: %.200q\n", f.Ref(), f.Malformed)
			continue
		}
		var a attributes
		if err := json.Unmarshal(f.Event, &a); err != nil {
			return fmt.Errorf("event %s: %w", f.Ref(), err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Ref(), a.Time, commands.Shorten(a.Type),
			commands.Shorten(a.Subject), commands.Shorten(a.Source), commands.Shorten(a.ID))
	}
	return w.Flush()
}
