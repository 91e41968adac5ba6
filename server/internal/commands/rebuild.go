package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/verify"
)

// Rebuild builds rows of models anew beside those that serve, and decides which of them serve.
type Rebuild struct {
	Start    rebuildStart    `cmd:"" default:"withargs" help:"Build rows of models from the whole log, beside those that serve: in a running server, or, with --store, at the next start."`
	Status   rebuildStatus   `cmd:"" help:"Print which rows of each model there are, and how far those are that are being built."`
	Switch   rebuildSwitch   `cmd:"" help:"Have rows serve that were built beside those that do."`
	Abort    rebuildAbort    `cmd:"" help:"Remove rows that are being built."`
	Verify   rebuildVerify   `cmd:"" help:"Fold the whole log twice, beside all rows, and compare what that gives: projectors that are not pure make a difference."`
	Accept   rebuildAccept   `cmd:"" help:"Say that code of projectors which has changed makes the rows that there are: the server warns of it no more."`
	Rollback rebuildRollback `cmd:"" help:"Have the rows serve again that served before the last switch."`
}

// rebuildStart begins to build rows.
type rebuildStart struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are rebuilt together."`
	client.Server
	StoreOptions
}

// Run has the models rebuilt.
func (c *rebuildStart) Run(ctx context.Context, p *Program) error {
	return c.either(ctx, p, StoreFlags(), c.remote, c.offline)
}

func (c *rebuildStart) remote(ctx context.Context, p *Program) error {
	return decideRebuild(ctx, p, &c.Server, c.Name, "",
		"rows are being built beside those that serve: 'server rebuild status' shows how far they are")
}

// rebuildNames are the models whose rows something is decided about.
type rebuildNames struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are meant together."`
	client.Server
}

type rebuildSwitch struct{ rebuildNames }

// Run has the rows serve that were built.
func (c *rebuildSwitch) Run(ctx context.Context, p *Program) error {
	return decideRebuild(ctx, p, &c.Server, c.Name, "/switch", "the rows that were built serve; the former ones are kept "+
		"for a while: 'server rebuild rollback' has them serve again")
}

type rebuildAbort struct{ rebuildNames }

// Run removes rows that are being built.
func (c *rebuildAbort) Run(ctx context.Context, p *Program) error {
	return decideRebuild(ctx, p, &c.Server, c.Name, "/abort", "the rows that were being built are removed; others are "+
		"built when 'server rebuild start' asks for them")
}

// rebuildVerify verifies that projectors are pure.
type rebuildVerify struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are verified together."`
	client.Server
	StoreOptions
	config.Fold
}

// Run prints what a running server finds or, with --store, what this process does.
func (c *rebuildVerify) Run(ctx context.Context, p *Program) error {
	return c.either(ctx, p, slices.Concat(StoreFlags(), FoldFlags()), c.remote, c.offline)
}

// verifyIdle is how long a server may send nothing: it tells twice a second how far it is.
var verifyIdle = client.Idle{First: 10 * time.Minute, Next: 10 * time.Minute}

func (c *rebuildVerify) remote(ctx context.Context, p *Program) error {
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	body, err := json.Marshal(admin.RebuildRequest{Names: c.Name})
	if err != nil {
		return err
	}
	from, err := to.StreamWithin(ctx, "/admin/rebuild/verify", body, verifyIdle)
	if err != nil {
		return fmt.Errorf("rebuild verify: %w", err)
	}
	defer from.Close()
	var m progress.Meter
	for lines := json.NewDecoder(from); ; {
		var at admin.VerifyLine
		if err := lines.Decode(&at); err != nil {
			return fmt.Errorf("rebuild verify: the answer ends before its last line: %w", err)
		}
		showFolded(p, &m, at.Folded, at.Total)
		switch {
		case at.Error != "":
			return fmt.Errorf("rebuild verify: %s", at.Error)
		case at.Results != nil:
			m.Stop()
			return printVerified(p, at.Results)
		}
	}
}

// showFolded shows how far the folds are.
func showFolded(p *Program, m *progress.Meter, folded, total uint64) {
	if m.Total == 0 {
		m.Total = total
		m.Start(p.Stderr, "folded")
	}
	m.At(folded)
}

func (c *rebuildVerify) offline(ctx context.Context, p *Program) (err error) {
	cfg, err := c.Runner(p.Log)
	if err != nil {
		return err
	}
	o, names, err := c.openNamed(ctx, p, c.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	v := verify.Verifier{DB: o.DB, Source: o.Source.Source, Runner: cfg}
	var m progress.Meter
	results, err := v.Verify(ctx, p.Projections, names, func(folded, total uint64) { showFolded(p, &m, folded, total) })
	if err != nil {
		return fmt.Errorf("rebuild verify: %w", err)
	}
	m.Stop()
	return printVerified(p, results)
}

// printVerified prints what was found, and fails where any two rows differ.
func printVerified(p *Program, all []verify.Result) error {
	var differences uint64
	for i := range all {
		r := &all[i]
		differences += r.Differences
		fmt.Fprintf(p.Stdout, "%s: %s and %s of two folds compared, %s\n", strings.Join(r.Projections, ", "),
			plural.Count(r.Rows, "row"), plural.Count(r.DeadLetters, "dead letter"), plural.Count(r.Differences, "difference"))
		for _, d := range r.First {
			fmt.Fprintf(p.Stdout, "  %s\n", strings.TrimSpace(fmt.Sprintf("%s %s: %s", d.Model, d.Key, d.What)))
		}
		if more := r.Differences - uint64(len(r.First)); more > 0 {
			fmt.Fprintf(p.Stdout, "  and %d more\n", more)
		}
	}
	if differences > 0 {
		return fmt.Errorf("%s: a projector is not pure, and a rebuild would make other rows than those that serve",
			plural.Count(differences, "difference"))
	}
	return nil
}

// decideRebuild asks a running server for what the path says, and prints what is done then.
func decideRebuild(ctx context.Context, p *Program, at *client.Server, names []string, path, done string) error {
	to, err := at.Client()
	if err != nil {
		return err
	}
	body, err := json.Marshal(admin.RebuildRequest{Names: names})
	if err != nil {
		return err
	}
	if err := to.Decide(ctx, "/admin/rebuild"+path, body); err != nil { // rows may be folded on before they serve
		return fmt.Errorf("rebuild: %w", err)
	}
	fmt.Fprintln(p.Stdout, done)
	return nil
}

// openNamed opens the store, and finds the projections that models and projections of the names mean. It fails
// where the log is not that of the rows.
func (o *StoreOptions) openNamed(ctx context.Context, p *Program, names []string) (*Opened, map[string]bool, error) {
	meant, err := admin.ProjectionsNamed(p.Projections, names)
	if err != nil {
		return nil, nil, config.Wrong("name", "%w", err)
	}
	opened, err := o.openExisting(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if err := logcheck.Check(ctx, opened.DB, opened.Source, p.Projections); err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return opened, meant, nil
}

func (c *rebuildStart) offline(ctx context.Context, p *Program) (err error) {
	o, names, err := c.openNamed(ctx, p, c.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if err := checkStart(ctx, o.DB, p.Projections, names); err != nil {
		return err
	}
	for _, one := range p.Projections {
		if !names[one.Name] {
			continue
		}
		if err := projection.RequestRebuild(ctx, o.DB, one); err != nil {
			return fmt.Errorf("rebuild %s: %w", one.Name, err)
		}
		fmt.Fprintf(p.Stdout, "%s: the next start rebuilds from the whole log\n", one.Name)
	}
	p.remindOfTables(o.DB)
	return nil
}

// checkStart fails where a running server would refuse to rebuild any of the named projections: then nothing is asked
// for.
func checkStart(ctx context.Context, db *querydb.DB, all []projection.Projection, named map[string]bool) error {
	for _, unit := range projection.Units(all) {
		i := slices.IndexFunc(unit, func(p projection.Projection) bool { return named[p.Name] })
		if i < 0 {
			continue
		}
		err := projections.CheckStart(ctx, db, unit)
		if errors.As(err, new(projections.RefusedError)) {
			return fmt.Errorf("rebuild %s: %w; start the server for that", unit[i].Name, err)
		}
		if err != nil {
			return fmt.Errorf("rebuild %s: %w", unit[i].Name, err)
		}
	}
	return nil
}

// refuseRebuild lets a request through only where this program would rebuild nothing: to decide about a dead letter is
// no reason to drop rows.
func refuseRebuild(db *querydb.DB, all []projection.Projection) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, one := range all {
				why, err := projection.RebuildReason(r.Context(), db, one)
				if err == nil && why != "" {
					err = fmt.Errorf("this program does not fold the rows of projection %s on: %s; use the program that "+
						"folded them, or start the server first", one.Name, why)
				}
				if err != nil {
					problem.FailedAgain(err.Error()).Write(w)
					return
				}
			}
			h.ServeHTTP(w, r)
		})
	}
}

// rebuildAccept accepts rows that other code has begun.
type rebuildAccept struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are meant together."`
	client.Server
	StoreOptions
}

// Run has rows be those of the present code: of a running server or, with --store, of this program.
func (c *rebuildAccept) Run(ctx context.Context, p *Program) error {
	return c.either(ctx, p, StoreFlags(), c.remote, c.offline)
}

const accepted = "the rows are those of the present code: no server warns of it before the code changes again"

func (c *rebuildAccept) remote(ctx context.Context, p *Program) error {
	return decideRebuild(ctx, p, &c.Server, c.Name, "/accept", accepted)
}

func (c *rebuildAccept) offline(ctx context.Context, p *Program) (err error) {
	o, names, err := c.openNamed(ctx, p, c.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	for _, unit := range projection.Units(p.Projections) {
		if !slices.ContainsFunc(unit, func(p projection.Projection) bool { return names[p.Name] }) {
			continue
		}
		for _, one := range unit {
			if err := projection.AcceptCode(ctx, o.DB, one); err != nil {
				return fmt.Errorf("rebuild accept %s: %w", one.Name, err)
			}
		}
	}
	fmt.Fprintln(p.Stdout, accepted)
	return nil
}
