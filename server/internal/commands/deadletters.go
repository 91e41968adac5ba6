package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/plural"
)

// DeadLetters lists, retries and skips events that projections could not fold.
type DeadLetters struct {
	List          deadLettersList  `cmd:"" help:"List dead letters, each with its reason."`
	Retry         deadLettersRetry `cmd:"" help:"Fold dead letters again, and the events that they block."`
	RetryCascades retryCascades    `cmd:"" help:"Have copies follow rows that they could not follow."`
	Skip          deadLettersSkip  `cmd:"" help:"Drop dead letters for good, and fold the events that they block."`
}

type deadLettersList struct {
	deadLettersOf
	Projection string `help:"List only dead letters of this projection." placeholder:"NAME"`
	After      string `help:"List only dead letters after this event of the projection." placeholder:"EVENT"`
	Limit      int    `help:"Number of dead letters to list, 1000 at most." default:"100"`
	Building   bool   `help:"List dead letters of rows that are being built beside those that serve."`
	JSON       bool   `name:"json" help:"Print one JSON object a line."`
}

// Run prints the list.
func (c *deadLettersList) Run(ctx context.Context, p *Program) error {
	return c.with(ctx, p, func(from *client.Client) error { return c.list(ctx, p, from) })
}

func (c *deadLettersList) list(ctx context.Context, p *Program, from *client.Client) error {
	q := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	if c.Projection != "" {
		q.Set("projection", c.Projection)
	}
	if c.After != "" {
		q.Set("after", c.After)
	}
	if c.Building {
		q.Set("rows", "building")
	}
	var answer admin.DeadLetterList
	err := from.Do(ctx, http.MethodGet, "/admin/dead-letters?"+q.Encode(), "", nil,
		client.Answer{Into: &answer, With: "deadLetters"})
	if err != nil {
		return fmt.Errorf("list dead letters: %w", err)
	}
	show := c.table
	if c.JSON {
		show = c.lines
	}
	if err := show(p, &answer); err != nil {
		return err
	}
	c.tellOfMore(p, &answer)
	return nil
}

// tellOfMore says how to list the dead letters after these, if there are any.
func (c *deadLettersList) tellOfMore(p *Program, list *admin.DeadLetterList) {
	if !list.More {
		return
	}
	last := &list.DeadLetters[len(list.DeadLetters)-1]
	shown := plural.Count(len(list.DeadLetters), "dead letter")
	if c.Projection == "" {
		fmt.Fprintf(p.Stderr, "%s; for those that follow, add --projection %s --after %s, and list those of "+
			"the other projections by --projection\n", shown, last.Projection, last.Ref)
		return
	}
	fmt.Fprintf(p.Stderr, "%s; for those that follow, add --after %s\n", shown, last.Ref)
}

func (c *deadLettersList) lines(p *Program, list *admin.DeadLetterList) error {
	lines := json.NewEncoder(p.Stdout)
	for _, e := range list.DeadLetters {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	for _, e := range list.FailedCascades {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	printCascades(p.Stderr, list.Cascades)
	return nil
}

func (c *deadLettersList) table(p *Program, list *admin.DeadLetterList) error {
	if err := printDeadLetters(p, list.DeadLetters); err != nil {
		return err
	}
	printCascades(p.Stdout, list.Cascades)
	if len(list.FailedCascades) == 0 {
		return nil
	}
	return printFailedCascades(p, list.FailedCascades)
}

func printDeadLetters(p *Program, events []admin.DeadLetter) error {
	if len(events) == 0 {
		fmt.Fprintln(p.Stdout, "there are no dead letters")
		return nil
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROJECTION\tEVENT\tTYPE\tSUBJECT\tID\tREASON")
	for _, e := range events {
		reason := e.Reason
		if e.BlockedBy != "" {
			reason = "blocked by " + e.BlockedBy
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.200q\n", e.Projection, e.Ref, Shorten(e.Type),
			Shorten(e.Subject), Shorten(e.ID), reason)
	}
	return w.Flush()
}

// Shorten is a text that leaves room for the other columns of a table, 60 characters at most; --json has the whole.
func Shorten(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
