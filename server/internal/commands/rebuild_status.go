package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/projections"
)

// rebuildStatus prints which rows there are.
type rebuildStatus struct {
	client.Server
	JSON bool `name:"json" help:"Print the answer of GET /admin/rebuilds."`
}

// Run prints a line for each generation of rows.
func (c *rebuildStatus) Run(ctx context.Context, p *Program) error {
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	var answer admin.RebuildsAnswer
	err = to.Do(ctx, http.MethodGet, "/admin/rebuilds", "", nil, client.Answer{Into: &answer, With: "rebuilds"})
	if err != nil {
		return fmt.Errorf("rebuild status: %w", err)
	}
	if c.JSON {
		return json.NewEncoder(p.Stdout).Encode(answer)
	}
	return printRebuildStatus(p.Stdout, answer.Rebuilds)
}

func printRebuildStatus(to io.Writer, all []projections.Rebuild) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODELS\tROWS\tGENERATION\tDEAD LETTERS\tSTATE")
	for i := range all {
		r := &all[i]
		models := strings.Join(r.Models, ", ")
		printGeneration(w, models, "serving", r.Serving, servingState(r))
		printGeneration(w, models, "building", r.Building, buildingState(r))
		printGeneration(w, models, "former", r.Former, "since "+r.FormerSince.Format(time.RFC3339))
	}
	return w.Flush()
}

func printGeneration(w io.Writer, models, which string, g *projections.Generation, state string) {
	if g != nil {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", models, which, g.Number, g.DeadLetters, state)
	}
}

// servingState says who folds the rows that serve.
func servingState(r *projections.Rebuild) string {
	switch {
	case r.Serving == nil: // there are none yet, or they are on record under the former name of a projection
		return ""
	case r.Why != "" && r.Serving.Own:
		return "folded; " + r.Why
	case r.Why != "":
		return "of another version: " + r.Why
	case !r.Serving.Own:
		return "of another version, as they are"
	case !r.Serving.Complete:
		return "not complete yet"
	case r.Serving.CodeChanged:
		return "folded; begun by other code of the projectors"
	}
	return "folded"
}

// buildingState says how far the rows are that are being built, of the projection that is last.
func buildingState(r *projections.Rebuild) string {
	last := leastBuilt(r.Progress)
	switch {
	case r.Waits != "" && r.Building.Complete:
		return "built, but not switched to: " + r.Waits
	case last == nil && r.Held:
		return "switched away from"
	case last == nil:
		return "not folded by this server"
	case !last.LagKnown && (last.Complete || last.Folded > 0 || last.LastError == ""):
		return lagUnknown(last)
	case last.LastError != "":
		return last.LastError
	case last.Complete:
		return fmt.Sprintf("built, %s behind", plural.Count(last.Lag, "event"))
	}
	text := fmt.Sprintf("%d of %s, %.0f/s", last.Folded, plural.Count(last.Total, "event"), last.EventsPerSecond)
	if last.ETASeconds >= 0 {
		text += fmt.Sprintf(", %s left", time.Duration(last.ETASeconds*float64(time.Second)).Round(time.Second))
	}
	if last.Cascades > 0 {
		text += fmt.Sprintf(", copies of %s are yet to follow", plural.Count(last.Cascades, "row"))
	}
	return text
}

// leastBuilt is the projection that keeps the rows of a group from serving longest, as far as can be told: the lag is 0
// while it is not known. It is the same one each time it is asked for.
func leastBuilt(progress map[string]*projection.BuildStatus) *projection.BuildStatus {
	names := slices.Sorted(maps.Keys(progress))
	if len(names) == 0 {
		return nil
	}
	return progress[slices.MinFunc(names, func(one, other string) int {
		a, b := progress[one], progress[other]
		return cmp.Or(trueFirst(!a.Complete, !b.Complete), trueFirst(a.LastError != "", b.LastError != ""),
			cmp.Compare(b.Lag, a.Lag), cmp.Compare(a.Folded, b.Folded))
	})]
}

// trueFirst orders what is true before what is not.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// lagUnknown is buildingState where the source does not say where it ends.
func lagUnknown(at *projection.BuildStatus) string {
	text := "built"
	if !at.Complete {
		text = fmt.Sprintf("%s folded", plural.Count(at.Folded, "event"))
	}
	text += "; how far behind is not known"
	if at.LastError != "" {
		text += "; " + at.LastError // mostly why that is so, but maybe what else has failed
	}
	return text
}
