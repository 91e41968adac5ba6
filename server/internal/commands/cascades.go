package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/plural"
)

// retryCascades tries failed cascades again.
type retryCascades struct {
	deadLettersOf
	Projection string `arg:"" help:"Projection that has failed cascades."`
}

// Run has the copies follow their rows.
func (c *retryCascades) Run(ctx context.Context, p *Program) error {
	return c.with(ctx, p, func(to *client.Client) error { return c.retry(ctx, p, to) })
}

func (c *retryCascades) retry(ctx context.Context, p *Program, to *client.Client) error {
	body, err := json.Marshal(admin.CascadesRequest{Projection: c.Projection})
	if err != nil {
		return err
	}
	var answer admin.CascadesAnswer
	err = to.Do(ctx, http.MethodPost, "/admin/cascades/retry", "application/json", body,
		client.Answer{Into: &answer, With: "tried"})
	if err != nil {
		return fmt.Errorf("retry the failed cascades of %s: %w", c.Projection, err)
	}
	fmt.Fprintf(p.Stdout, "%s: %s tried, %d failed again\n", c.Projection, plural.Count(answer.Tried, "row"),
		len(answer.Failed))
	for _, f := range answer.Failed {
		fmt.Fprintf(p.Stderr, "%s: %s %s: %d of %d copies have followed, the others cannot: %s\n", f.Code, f.Model, f.ID,
			f.Succeeded, f.Succeeded+f.Failed, f.Reason)
	}
	if len(answer.Failed) > 0 {
		return fmt.Errorf("copies of %s cannot follow", plural.Count(len(answer.Failed), "row"))
	}
	return nil
}

// printCascades says of how many rows it is yet to be seen whether all copies can follow.
func printCascades(to io.Writer, pending int) {
	if pending > 0 {
		fmt.Fprintf(to, "copies of %s are yet to follow: those that cannot are listed here afterwards\n",
			plural.Count(pending, "row"))
	}
}

func printFailedCascades(p *Program, failed []admin.FailedCascade) error {
	fmt.Fprintf(p.Stdout, "\n%s: rows that some copies could not follow; retry them with 'deadletters retry-cascades':\n",
		projection.CascadePartialFailure)
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROJECTION\tMODEL\tID\tSUCCEEDED\tFAILED\tREASON")
	for _, f := range failed {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.200q\n", f.Projection, f.Model, Shorten(f.ID), f.Succeeded, f.Failed,
			f.Reason)
	}
	return w.Flush()
}
