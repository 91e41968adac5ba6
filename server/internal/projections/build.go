package projections

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/internal/recurring"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
)

// build starts the runners of the rows that are built beside those that serve.
func (u *unit) build(c *crew) error {
	cfg := u.set.cfg
	cfg.Budget = u.set.keep.Budget
	u.losses = losses{} // those that the new runners report are looked up
	for i, one := range u.of {
		r, err := projection.NewRunner(u.projections[i], u.set.source, u.set.buildDB, cfg)
		if err != nil {
			return err
		}
		b := &Running{Runner: r, Name: one.Name, members: one.members, decided: make(chan struct{}, 1), crew: c,
			builds: true}
		one.build.set(b)
		c.add(func(ctx context.Context) { u.set.keepRunning(ctx, b) })
		u.report(i, one.build.progress)
	}
	return nil
}

// buildsNone says that nobody builds rows any more.
func (u *unit) buildsNone() {
	for i, one := range u.of {
		one.build.set(nil)
		u.report(i, nil)
	}
}

// report has errors about what the rows that serve do not have tell how far others are.
func (u *unit) report(i int, progress func() querydb.Progress) {
	for _, m := range u.projections[i].Models() {
		if err := u.set.keep.DB.Rebuilds().ReportBuild(m, progress); err != nil {
			u.log(slog.LevelError, "the progress of a build is not told", "error", err)
		}
	}
}

// keepRunning runs a projection, and again whenever somebody has decided about the event at which it has stopped.
func (s *Set) keepRunning(ctx context.Context, one *Running) {
	one.last.begins()
	for s.run(ctx, one) {
		message := "projection goes on"
		if one.builds {
			message = "build goes on"
		}
		s.log.Info(message, "projection", one.Name)
	}
}

// otherRows reports whether a runner has ended because there are other rows than it is to fold.
func otherRows(err error) bool {
	return errors.Is(err, projection.ErrOtherRows) || errors.Is(err, projection.ErrNotBuilt)
}

// built reports whether all rows of the unit that are being built can serve: they are those of the whole log, no
// further behind than a server may be that is ready, and somebody folds them on. Whether they are to is another
// question: see losses.
func (u *unit) built(ctx context.Context) bool {
	for i, one := range u.of {
		b := one.build.runner()
		if b == nil {
			return false
		}
		s, err := b.Runner.Status(ctx)
		if err != nil || s.Stop != nil || s.Rebuilding || s.Cascades > 0 || s.Lag > u.set.ReadyLag {
			return false
		}
		if whole, err := complete(ctx, u, i); err != nil || !whole {
			return false
		}
	}
	return true
}

// complete reports whether the rows that a projection of the unit builds are on record as those of the whole log.
func complete(ctx context.Context, u *unit, i int) (bool, error) {
	return projection.IsBuilt(ctx, u.set.keep.DB, u.projections[i])
}

// buildRunner is who builds rows beside those that serve.
type buildRunner struct {
	unit *unit
	i    int // of the projection in the unit

	mu      sync.Mutex
	running *Running
	lost    lost // when that was looked up last
	told    told
}

// told is what the last status has said of the rows, which errors of queries tell without waiting for the source.
type told struct {
	ends  map[string]uint64 // of partitions
	ready bool              // all rows are there, and may be switched to: see unit.built
}

// runner is who builds them; nil where nobody does.
func (b *buildRunner) runner() *Running {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running
}

func (b *buildRunner) set(one *Running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.lost, b.told = one, lost{}, told{ends: map[string]uint64{}}
}

// progress is how far the rows have come, of a log whose end was looked up within progressEvery. It never waits.
func (b *buildRunner) progress() querydb.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		return querydb.Progress{ETASeconds: -1}
	}
	p := projection.ProgressTo(b.running.Runner, b.told.ends)
	if b.told.ready && !p.Stopped {
		p.Waits, p.ETASeconds = true, -1
	}
	return p
}

// tell takes note of a status of the rows that one builds.
func (b *buildRunner) tell(one *Running, s *projection.Status, ready bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running != one {
		return
	}
	b.told.ready = ready
	for _, p := range s.Partitions {
		if p.HeadKnown {
			b.told.ends[p.Partition] = p.Head
		}
	}
}

// status is how far the rows have come that are being built, or cannot be begun; nil where none are to be. On an error
// it has what is known.
func (b *buildRunner) status(ctx context.Context, heads *projection.Heads) (*projection.BuildStatus, error) {
	one := b.runner()
	switch {
	case one == nil && b.unit == nil:
		return nil, nil
	case one == nil:
		return notBegun(b.unit), nil
	}
	whole, unread := complete(ctx, b.unit, b.i) // before the source may take all the time that there is
	soon, cancel := context.WithTimeout(ctx, headsWithin)
	defer cancel()
	s, unknown := heads.Status(soon, one.Runner)
	if b.unit.set.Mismatch() != nil { // the log is not the one of the rows
		forgetLag(&s)
	}
	lacks := b.losses()
	at := &projection.BuildStatus{
		State: s.State, Lag: s.Lag, LagKnown: s.LagKnown, EventsPerSecond: s.EventsPerSecond, ETASeconds: s.ETASeconds,
		Complete: whole && !s.Rebuilding, // as unit.built: whoever reads it may ask for the switch
		Copied:   s.Copied, Cascades: s.Cascades,
		DeadLetters: s.DeadLetters, LastError: s.LastError, FailingSince: s.FailingSince, Stop: s.Stop,
		NewDeadLetters: lacks.letters, FormerDecisions: lacks.decisions,
	}
	for _, p := range s.Partitions {
		at.Folded += p.Checkpoint
		at.Total += p.Head
	}
	b.tell(one, &s, at.Complete && s.Cascades == 0 && s.LagKnown && s.Lag <= b.unit.set.ReadyLag)
	return at, cmp.Or(unread, unknown)
}

// CheckBuild returns why rows that are built do not get on, nil where they do.
func CheckBuild(b *projection.BuildStatus) error { return b.CheckHealth(time.Now(), silence) }

// progressEvery is how often a build logs how far it is.
const progressEvery = 5 * time.Second

// logProgress logs how far the rows are that are being built.
func (u *unit) logProgress(ctx context.Context) {
	heads := projection.NewHeads(u.set.source)
	for _, one := range u.of {
		at, err := one.build.status(ctx, heads)
		if err != nil || at == nil || at.Complete && at.Lag == 0 {
			continue
		}
		u.set.log.Info("building rows beside those that serve", "projection", one.Name, "folded", at.Folded, "total",
			at.Total, "rowsCopied", at.Copied, "eventsPerSecond", int(at.EventsPerSecond), "secondsLeft", int(at.ETASeconds),
			"deadLetters", at.DeadLetters, "state", at.State)
	}
}

// Rebuild is which rows there are of the projections of a unit.
type Rebuild struct {
	Projections []string    `json:"projections"`
	Models      []string    `json:"models"`
	Serving     *Generation `json:"serving,omitempty"`
	Building    *Generation `json:"building,omitempty"`
	Former      *Generation `json:"former,omitempty"`
	// FormerSince is when the former rows ceased to serve.
	FormerSince time.Time `json:"formerSince,omitzero"`
	// Held: the rows that are being built have served, and serve again only when somebody asks for it.
	Held bool `json:"held,omitempty"`
	// NewDeadLetters is how many dead letters of the rows that are being built are none of the rows that serve.
	NewDeadLetters int `json:"newDeadLetters,omitempty"`
	// FormerDecisions is how many events were retried or skipped under former names of the projections.
	FormerDecisions int `json:"formerDecisions,omitempty"`
	// Waits says why rows that are built are not switched to, and what to do.
	Waits string `json:"waits,omitempty"`
	// Why says what to do where this program neither folds what serves nor builds rows of its own, and why rows that it is
	// to build cannot be begun.
	Why string `json:"why,omitempty"`
	// Progress is how far the projections are that this server builds rows with.
	Progress map[string]*projection.BuildStatus `json:"progress,omitempty"`
}

// Generation is what is on record of rows of a unit.
type Generation struct {
	Number      int               `json:"generation"` // of the first table
	Versions    map[string]string `json:"versions"`   // by table
	Own         bool              `json:"own"`        // this program can fold them
	Complete    bool              `json:"complete"`
	DeadLetters int               `json:"deadLetters"`
	// CodeChanged: this program's projectors have other code than those with which the rows were begun.
	CodeChanged bool `json:"codeChanged,omitempty"`
}

// Rebuilds tells which rows there are, of all units.
func (s *Set) Rebuilds(ctx context.Context) (all []Rebuild, err error) {
	since, heads := time.Now(), projection.NewHeads(s.source)
	for _, u := range s.units {
		one, err := rebuildOf(ctx, u, since, heads)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// rebuildOf tells which rows there are of a unit, by a look that is not older than since.
func rebuildOf(ctx context.Context, u *unit, since time.Time, heads *projection.Heads) (r Rebuild, err error) {
	found, err := lookWithOthers(ctx, u, since)
	if err != nil {
		return r, err
	}
	r = Rebuild{Projections: names(u.projections), Held: found.held, Why: found.why, FormerSince: found.since}
	if found.begins && r.Why == "" {
		r.Why, _ = u.beginning.failing()
	}
	for _, m := range models(u.projections) {
		r.Models = append(r.Models, m.Name)
	}
	for i := range found.all {
		g := &found.all[i]
		for to, rows := range map[**Generation]*projection.Rows{
			&r.Serving: g.Serving, &r.Building: g.Building, &r.Former: g.Former,
		} {
			if rows == nil || rows == g.Former && found.since.IsZero() { // rows to which nothing leads back
				continue
			}
			letters, err := projection.CountDeadLetters(ctx, u.set.keep.DB, rows)
			if err != nil {
				return r, err
			}
			*to = (*to).with(rows, letters)
		}
	}
	if r.Building != nil {
		all, err := lookUpLosses(ctx, u)
		if err != nil {
			return r, err
		}
		r.NewDeadLetters, r.FormerDecisions = all.letters, all.decisions
		if all != (lost{}) && found.switches(u.set.keep) {
			r.Waits = all.waits()
		}
	}
	for _, one := range u.of {
		at, err := one.build.status(ctx, heads)
		if err != nil && !errors.Is(err, projection.ErrEndUnknown) {
			return r, err
		}
		if at != nil {
			if r.Progress == nil {
				r.Progress = map[string]*projection.BuildStatus{}
			}
			r.Progress[one.Name] = at
		}
	}
	return r, nil
}

// with are the rows of several projections as one.
func (g *Generation) with(rows *projection.Rows, deadLetters int) *Generation {
	if g == nil {
		g = &Generation{Number: rows.Tables[0].Generation, Versions: map[string]string{}, Own: true, Complete: true}
	}
	for _, t := range rows.Tables {
		g.Versions[t.Table] = t.Version
	}
	g.Own, g.Complete = g.Own && rows.Own, g.Complete && rows.Complete
	g.DeadLetters += deadLetters
	g.CodeChanged = g.CodeChanged || rows.CodeChanged
	return g
}

// beginning is what has become of the attempts to begin rows beside those that serve. While these fail, the rows that
// serve are folded on, and operators are heard.
type beginning struct {
	failures int
	until    time.Time // the next attempt; the zero time is now
	logged   recurring.Failure

	mu    sync.Mutex
	why   string    // of the last one; "" where it has not failed, or no rows are to be begun any more
	since time.Time // when the first one has failed
}

// isOver reports whether it is time for another attempt.
func (b *beginning) isOver() bool { return !time.Now().Before(b.until) }

// failing is why the last attempt has failed, and since when they do; "" where none fails.
func (b *beginning) failing() (why string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why, b.since
}

func (b *beginning) fails(why string) {
	b.until = time.Now().Add(backoff.Delay(100*time.Millisecond, 10*time.Second, b.failures))
	b.failures++
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why == "" {
		b.since = time.Now()
	}
	b.why = why
}

// ends says that no rows are to be begun any more: an attempt has succeeded, another server has begun them, or an
// operator has aborted that.
func (b *beginning) ends() {
	b.failures, b.until = 0, time.Time{}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.why = ""
}

// tryToBegin is an attempt to begin rows, whose failure puts the next one off.
func tryToBegin(u *unit) act {
	return func(ctx context.Context) error {
		err := u.begin(ctx)
		if err == nil {
			u.beginning.ends()
			return nil
		}
		u.set.Mismatches(err)
		err = advice.Add(err)
		u.beginning.fails("rows cannot be begun: " + err.Error())
		if u.beginning.logged.IsNews(time.Now(), err) {
			u.log(slog.LevelError, "rows cannot be begun beside those that serve; trying again", "error", err)
		}
		return nil
	}
}

// notBegun is the status of rows that cannot be begun; nil where they can.
func notBegun(u *unit) *projection.BuildStatus {
	u.mu.Lock()
	begins := u.found.begins
	u.mu.Unlock()
	why, since := u.beginning.failing()
	if !begins || why == "" {
		return nil
	}
	return &projection.BuildStatus{State: projection.StateStalled, LastError: why, FailingSince: since, ETASeconds: -1}
}
