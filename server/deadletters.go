package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
)

// deadLettersCommand lists, retries and skips events that projections could not fold.
type deadLettersCommand struct {
	List  deadLettersList  `cmd:"" help:"List dead letters, each with its reason."`
	Retry deadLettersRetry `cmd:"" help:"Fold dead letters again, and the events that they block."`
	Skip  deadLettersSkip  `cmd:"" help:"Let dead letters never take effect, and fold the events that they block."`
}

type deadLettersList struct {
	deadLettersOf
	Projection string `help:"Only those of this projection." placeholder:"NAME"`
	After      string `help:"Only those after this event of the projection." placeholder:"EVENT"`
	Limit      int    `help:"How many, at most 1000." default:"100"`
	JSON       bool   `name:"json" help:"Print one JSON object a line."`
}

// Run prints the list.
func (c *deadLettersList) Run(ctx context.Context, p *program) error {
	return c.with(ctx, p, func(from *client.Client) error { return c.list(ctx, p, from) })
}

func (c *deadLettersList) list(ctx context.Context, p *program, from *client.Client) error {
	q := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	if c.Projection != "" {
		q.Set("projection", c.Projection)
	}
	if c.After != "" {
		q.Set("after", c.After)
	}
	var answer admin.DeadLetterList
	if err := from.Do(ctx, http.MethodGet, "/admin/dead-letters?"+q.Encode(), "", nil, &answer); err != nil {
		return fmt.Errorf("list dead letters: %w", err)
	}
	if c.JSON {
		lines := json.NewEncoder(p.stdout)
		for _, e := range answer.DeadLetters {
			if err := lines.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	return printDeadLetters(p, answer.DeadLetters)
}

func printDeadLetters(p *program, events []admin.DeadLetter) error {
	if len(events) == 0 {
		fmt.Fprintln(p.stdout, "there are no dead letters")
		return nil
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROJECTION\tEVENT\tTYPE\tSUBJECT\tID\tREASON")
	for _, e := range events {
		reason := e.Reason
		if e.Behind != "" {
			reason = "blocked by " + e.Behind
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.200q\n", e.Projection, e.Ref, short(e.Type), short(e.Subject),
			short(e.ID), reason)
	}
	return w.Flush()
}

// short is a text that leaves room for the other columns; --json has the whole.
func short(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// deadLettersNamed are events of one projection: those that are named, or those that the filters let through.
type deadLettersNamed struct {
	deadLettersOf
	Projection string   `arg:"" help:"Projection whose dead letters they are."`
	Event      []string `arg:"" optional:"" help:"Events, as the list names them."`
	All        bool     `help:"All dead letters of the projection."`
	Reason     string   `help:"Those whose reason contains this." placeholder:"TEXT"`
	Type       string   `help:"Those of events of this type." placeholder:"TYPE"`
}

type deadLettersRetry struct{ deadLettersNamed }

// Run folds the events again.
func (c *deadLettersRetry) Run(ctx context.Context, p *program) error {
	return c.run(ctx, p, "retry", "folded")
}

type deadLettersSkip struct{ deadLettersNamed }

// Run lets the events never take effect.
func (c *deadLettersSkip) Run(ctx context.Context, p *program) error {
	return c.run(ctx, p, "skip", "skipped")
}

func (c *deadLettersNamed) run(ctx context.Context, p *program, verb, done string) error {
	many := c.All || c.Reason != "" || c.Type != ""
	if many == (len(c.Event) > 0) {
		return config.Wrong("events", "name dead letters, or choose them by --all, --reason or --type")
	}
	return c.with(ctx, p, func(to *client.Client) error {
		if many {
			return c.matching(ctx, p, to, verb, done)
		}
		return c.named(ctx, p, to, verb, done)
	})
}

// named goes through the events that are named, also where one of them fails.
func (c *deadLettersNamed) named(ctx context.Context, p *program, to *client.Client, verb, done string) error {
	var all []error
	for _, event := range c.Event {
		if err := c.decide(ctx, to, verb, event); err != nil {
			all = append(all, err)
			continue
		}
		fmt.Fprintf(p.stdout, "%s %s: %s\n", c.Projection, event, done)
	}
	return errors.Join(all...)
}

// decide has the server do something with one event.
func (c *deadLettersNamed) decide(ctx context.Context, to *client.Client, verb, event string) error {
	body, err := json.Marshal(admin.DecisionRequest{Projection: c.Projection, Event: event})
	if err != nil {
		return err
	}
	err = to.Do(ctx, http.MethodPost, "/admin/dead-letters/"+verb, "application/json", body, nil)
	if answer := (*client.Error)(nil); err != nil && !errors.As(err, &answer) { // an answer names the event itself
		err = fmt.Errorf("%s event %s of %s: %w", verb, event, c.Projection, err)
	}
	return err
}

// matching has the server go through the dead letters of the projection, as many at a time as it takes on. Begun again,
// it finds those that are left.
func (c *deadLettersNamed) matching(ctx context.Context, p *program, to *client.Client, verb, done string) error {
	var sum admin.BulkAnswer
	defer func() { fmt.Fprintf(p.stdout, "%s: %d %s, %d failed\n", c.Projection, sum.Done, done, sum.Failed) }()
	for m := (admin.DecisionRequest{Projection: c.Projection, Filter: admin.Filter{All: c.All, Reason: c.Reason,
		Type: c.Type}}); ; {
		body, err := json.Marshal(m)
		if err != nil {
			return err
		}
		var some admin.BulkAnswer
		if err := to.Do(ctx, http.MethodPost, "/admin/dead-letters/"+verb, "application/json", body, &some); err != nil {
			return fmt.Errorf("%s dead letters of %s: %w", verb, c.Projection, err)
		}
		sum.Done, sum.Failed = sum.Done+some.Done, sum.Failed+some.Failed
		for _, f := range some.Failures {
			fmt.Fprintln(p.stderr, f.Reason)
		}
		if m.After = some.Next; m.After == "" {
			break
		}
	}
	if sum.Failed > 0 {
		return fmt.Errorf("%d events failed again", sum.Failed)
	}
	return nil
}
