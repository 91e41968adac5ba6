// Package projections runs the projections of a server: it starts and stops them, lets a stopped one go on, and says
// whether their rows can be trusted.
package projections

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/plural"
)

// Set are the runners of all projections.
type Set struct {
	All         []*Running
	Projections []projection.Projection
	goal        eventlog.Offsets // the ends of the source at the start
	log         *slog.Logger
	done        sync.WaitGroup
	// ReadyLag is how many events a projection may be behind and be ready.
	ReadyLag uint64
	// other is what says that the log is not the one that the rows are folded from: see mismatch.go.
	other atomic.Pointer[projection.MismatchError]
	Halt  context.CancelFunc
	// keep says how rows go on serving while others are built; nil where one generation alone is kept.
	keep    *Keep
	buildDB *querydb.DB // of those that are built
	source  eventlog.Source
	cfg     projection.RunnerConfig
	units   []*unit
	watch   watch
	started bool
	// Setbacks counts how often queries were given rows to read that are behind those that they read before, as after a
	// rollback. Who reads while it changes may have read rows that have not come as far as was known before.
	Setbacks atomic.Uint64
	// decisions counts what operators have decided here, and what was taken over.
	decisions atomic.Uint64
	// Resumes: a projection that has stopped at an event goes on when somebody has decided about that.
	Resumes bool
}

// New makes a runner of each projection, and starts none. The goal is where the source ends: a projection is ready once
// it has been there. It fails where a projection or its configuration is wrong.
func New(projections []projection.Projection, src eventlog.Source, db *querydb.DB, goal eventlog.Offsets,
	cfg projection.RunnerConfig) (*Set, error) {
	f := &Set{goal: goal, log: cfg.Logger, Projections: projections, source: shared.New(src, 0)}
	if cfg.ExplainError == nil {
		cfg.ExplainError = advice.Add
	}
	f.cfg = cfg
	if err := addRunners(f, projections, db, ""); err != nil {
		return nil, err
	}
	return f, nil
}

// addRunners adds a runner of each projection over the DB, whose name says which rows it folds.
func addRunners(f *Set, all []projection.Projection, db *querydb.DB, which string) error {
	for _, p := range all {
		r, err := projection.NewRunner(p, f.source, db, f.cfg)
		if err != nil {
			return err
		}
		f.All = append(f.All, &Running{Runner: r, Name: p.Name + which, members: p.Members(),
			decided: make(chan struct{}, 1)})
	}
	return nil
}

// KeepServing has rows go on serving while others are built beside them. It is to be called before Prepare.
func (s *Set) KeepServing(ctx context.Context, keep Keep) (err error) {
	s.keep = &keep
	if s.buildDB, err = keep.DB.Generations().ForBuild(ctx); err != nil {
		return err
	}
	s.cfg.KeepServing = true
	for _, some := range projection.Units(s.Projections) {
		u := &unit{set: s, projections: some, asks: make(chan ask), ended: make(chan struct{})}
		for _, p := range some {
			one := s.Find(p.Name)
			one.unit, one.frozen.db, one.frozen.of, one.frozen.hurried = u, keep.DB, p, make(chan struct{}, 1)
			one.build.unit, one.build.i = u, len(u.of)
			u.of = append(u.of, one)
		}
		s.units = append(s.units, u)
	}
	for i, p := range s.Projections {
		if s.All[i].Runner, err = projection.NewRunner(p, s.source, keep.DB, s.cfg); err != nil {
			return err
		}
	}
	return nil
}

// Prepare has every runner look at its rows before they are read.
func (s *Set) Prepare(ctx context.Context) error {
	if s.keep != nil {
		return s.prepareUnits(ctx)
	}
	for _, one := range s.All {
		if err := one.LoadCheckpoint(ctx); err != nil && !(otherRows(err) && one.left != nil) { // run finds it again
			return fmt.Errorf("prepare projection %s: %w", one.Name, advice.Add(err))
		}
	}
	return nil
}

// Start runs every runner until its end or that of the context.
func (s *Set) Start(ctx context.Context) {
	s.started = true
	ctx, s.Halt = context.WithCancel(ctx)
	for _, p := range s.Projections {
		s.log.Info("projection starts", "projection", p.Name, "models", modelNames(&p))
	}
	s.warnOfCode()
	for _, u := range s.units {
		s.done.Go(func() { u.run(ctx) })
	}
	if s.keep != nil {
		return
	}
	for _, one := range s.All {
		s.done.Go(func() { s.keepRunning(ctx, one) })
	}
}

// modelNames are the models of a projection: the name of a group has its projections alone.
func modelNames(p *projection.Projection) string {
	var names []string
	for _, m := range p.Models() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// preparedAtOnce is how many units are prepared at once: each waits for answers of the store, again and again.
const preparedAtOnce = 16

// prepareUnits is Prepare where rows go on serving: those that this program does not fold are served too.
func (s *Set) prepareUnits(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(preparedAtOnce)
	since := time.Now()
	for _, u := range s.units {
		all.Go(func() error { return prepareUnit(ctx, u, since) })
	}
	return all.Wait()
}

// run runs a projection once, and reports whether it is to run again: it has stopped at an event, and somebody has
// decided about that.
func (s *Set) run(ctx context.Context, one *Running) bool {
	err := advice.Add(one.whole(ctx))
	if otherRows(err) && one.left != nil {
		err = one.left(ctx, err)
	}
	told := ctx.Err() != nil
	if told {
		err = nil
	}
	one.last.ends(told, err)
	if err == nil {
		return false
	}
	if otherRows(err) && one.crew != nil {
		one.crew.away()
		return false
	}
	s.Mismatches(err)
	message := "projection stopped; its rows do not change any more"
	if one.builds {
		message = "build stopped; the rows that serve are not affected"
		if _, _, frozen := s.Find(one.Name).frozen.now(); frozen {
			message = "build stopped; this server does not fold the rows that serve, and is not ready"
		}
	}
	s.log.Error(message, "projection", one.Name, "error", err)
	var stop *projection.StopError
	if !s.Resumes || !errors.As(err, &stop) || !one.await(ctx, stop) {
		return false
	}
	one.last.begins()
	return true
}

// WaitUntil is wait that gives up at a time.
func (s *Set) WaitUntil(at time.Time) (error, bool) {
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case err := <-ended:
		return err, true
	case <-time.After(time.Until(at)):
		return nil, false
	}
}

// Wait returns when all runners have stopped, with what they died of, if it is not the end of their context. Where the
// log is not that of the rows, it says so, also where none has run.
func (s *Set) Wait() error {
	s.done.Wait()
	var all []error
	for _, one := range s.All {
		if _, err := one.state(); err != nil && !errors.Is(err, context.Canceled) {
			all = append(all, fmt.Errorf("projection %s: %w", one.Name, err))
		}
	}
	err := errors.Join(all...)
	if m := s.Mismatch(); m != nil && !errors.As(err, new(*projection.MismatchError)) {
		err = errors.Join(logcheck.Error(m), err)
	}
	return err
}

// allNames are the names of all projections.
func allNames(f *Set) (all []string) {
	for _, one := range f.All {
		all = append(all, one.Name)
	}
	return all
}

// Find returns the projection of that name, or the group that has a member of that name; nil where there is none.
func (s *Set) Find(name string) *Running {
	for _, one := range s.All {
		if one.Name == name || slices.Contains(one.members, name) {
			return one
		}
	}
	return nil
}

// Statuses reports on the projections, or on those given alone, and why not all of them are ready.
func (s *Set) Statuses(ctx context.Context, of ...*Running) ([]projection.Status, error) {
	if len(of) == 0 {
		of = s.All
	}
	list := make([]projection.Status, len(of))
	var why []error
	heads := projection.NewHeads(s.source)
	for i, one := range of {
		status, err := one.ready(ctx, heads, s.goal, s.ReadyLag)
		list[i] = status
		why = append(why, err)
	}
	if m := s.Mismatch(); m != nil {
		return list, logcheck.Error(m)
	}
	return list, errors.Join(why...)
}

// VisitHealth calls visit with each projection's status, and why its rows do not get on; nil where they do.
func VisitHealth(ctx context.Context, f *Set, visit func(one *Running, s projection.Status, err error)) {
	heads := projection.NewHeads(f.source)
	for _, one := range f.All {
		s, err := one.healthy(ctx, heads)
		if m := f.Mismatch(); m != nil && err == nil { // it has ended as it was told to, with all others
			err = m
		}
		visit(one, s, err)
	}
}

// Average returns how far the projections have come, each as much as the others: one that waits long for its first
// commit, as on DynamoDB, does not hide that the others get on.
func (s *Set) Average(ctx context.Context) uint64 {
	var sum uint64
	heads := projection.NewHeads(s.source)
	for _, one := range s.All {
		status, err := one.Status(ctx, heads)
		if err != nil {
			s.log.LogAttrs(ctx, slog.LevelDebug, "status not known", slog.Any("error", err))
			continue
		}
		for _, p := range status.Partitions {
			sum += p.Checkpoint
		}
	}
	return sum / uint64(max(len(s.All), 1))
}

// Summary prints what became of each projection.
func (s *Set) Summary(ctx context.Context, to io.Writer) error {
	heads := projection.NewHeads(s.source)
	for _, one := range s.All {
		status, err := one.Status(ctx, heads)
		if err != nil {
			return err
		}
		fmt.Fprintf(to, "%s: %s, %s written, %s\n", one.Name, plural.Count(status.Events, "event"),
			plural.Count(status.Rows, "row"), plural.Count(status.DeadLetters, "dead letter"))
	}
	return nil
}
