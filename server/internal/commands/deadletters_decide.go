package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/plural"
)

// deadLettersNamed are events of one projection: those that are named, or those that the filters let through.
type deadLettersNamed struct {
	deadLettersOf
	Projection string   `arg:"" help:"Projection of the dead letters."`
	Event      []string `arg:"" optional:"" help:"Events, as 'deadletters list' names them."`
	All        bool     `help:"All dead letters of the projection."`
	Reason     string   `help:"Dead letters whose reason contains this text." placeholder:"TEXT"`
	Type       string   `help:"Dead letters of events of this type." placeholder:"TYPE"`
}

type deadLettersRetry struct{ deadLettersNamed }

// Run folds the events again.
func (c *deadLettersRetry) Run(ctx context.Context, p *Program) error {
	return c.run(ctx, p, "retry", "folded")
}

type deadLettersSkip struct{ deadLettersNamed }

// Run lets the events never take effect.
func (c *deadLettersSkip) Run(ctx context.Context, p *Program) error {
	return c.run(ctx, p, "skip", "skipped")
}

func (c *deadLettersNamed) run(ctx context.Context, p *Program, verb, done string) error {
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
func (c *deadLettersNamed) named(ctx context.Context, p *Program, to *client.Client, verb, done string) error {
	var all []error
	for _, event := range c.Event {
		if err := c.decide(ctx, to, verb, event); err != nil {
			all = append(all, err)
			continue
		}
		fmt.Fprintf(p.Stdout, "%s %s: %s\n", c.Projection, event, done)
	}
	return errors.Join(all...)
}

// decide has the server do something with one event.
func (c *deadLettersNamed) decide(ctx context.Context, to *client.Client, verb, event string) error {
	body, err := json.Marshal(admin.DecisionRequest{Projection: c.Projection, Event: event})
	if err != nil {
		return err
	}
	err = to.Decide(ctx, "/admin/dead-letters/"+verb, body)
	if answer := (*client.Error)(nil); err != nil && !errors.As(err, &answer) { // an answer names the event itself
		err = fmt.Errorf("%s event %s of %s: %w", verb, event, c.Projection, err)
	}
	return err
}

// matching has the server go through the dead letters of the projection, as many at a time as it takes on. Begun again,
// it finds those that are left.
func (c *deadLettersNamed) matching(ctx context.Context, p *Program, to *client.Client, verb, done string) (err error) {
	var sum admin.BulkAnswer
	defer func() { c.summary(p, &sum, done, err) }()
	for m := (admin.DecisionRequest{Projection: c.Projection, Filter: admin.Filter{All: c.All, Reason: c.Reason,
		Type: c.Type}}); ; {
		body, err := json.Marshal(m)
		if err != nil {
			return err
		}
		var some admin.BulkAnswer
		err = to.Do(ctx, http.MethodPost, "/admin/dead-letters/"+verb, "application/json", body,
			client.Answer{Into: &some, With: "done"})
		if err != nil {
			if client.MayBeDone(err) {
				fmt.Fprintln(p.Stderr, "the server may have decided some of the last page, which are not counted: repeat the "+
					"command for those that are left")
			}
			return fmt.Errorf("%s dead letters of %s: %w", verb, c.Projection, err)
		}
		sum.Done, sum.Failed = sum.Done+some.Done, sum.Failed+some.Failed
		for _, f := range some.Failures {
			fmt.Fprintln(p.Stderr, f.Reason)
		}
		if err := ctx.Err(); err != nil { // whoever goes through a page goes no further then
			return err
		}
		if m.After = some.Next; m.After == "" {
			break
		}
	}
	if sum.Failed > 0 {
		return fmt.Errorf("%s of %s failed again: correct what the reasons say, and repeat the command",
			plural.Count(sum.Failed, "dead letter"), c.Projection)
	}
	return nil
}

// summary says what has become of dead letters. Where none has been gone through, the error says why, if there is one.
func (c *deadLettersNamed) summary(p *Program, sum *admin.BulkAnswer, done string, err error) {
	switch {
	case sum.Done > 0 && sum.Failed > 0:
		fmt.Fprintf(p.Stdout, "%s: %s %s, %d failed\n", c.Projection, plural.Count(sum.Done, "dead letter"), done, sum.Failed)
	case sum.Done > 0:
		fmt.Fprintf(p.Stdout, "%s: %s %s\n", c.Projection, plural.Count(sum.Done, "dead letter"), done)
	case sum.Failed > 0 || err != nil:
	case c.All:
		fmt.Fprintf(p.Stdout, "%s: there are no dead letters, so none is %s\n", c.Projection, done)
	default:
		fmt.Fprintf(p.Stdout, "%s: no dead letter fits that is not blocked by another, so none is %s: 'deadletters list' "+
			"shows all\n", c.Projection, done)
	}
}
