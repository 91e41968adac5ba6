package projections

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/advice"
	"github.com/foldql/foldql/server/internal/plural"
)

// Running is one projection and its runner.
type Running struct {
	*projection.Runner
	Name    string
	members []string // names of the projections that it consists of

	last lastRun

	mu     sync.Mutex
	caught bool // the goal has been reached once

	unit   *unit       // nil where one generation of rows alone is kept
	crew   *crew       // nil as long as it belongs to none
	frozen following   // the rows that serve, where others fold them
	build  buildRunner // the rows that are built
	builds bool        // its rows are built beside those that serve
	// left says how a runner of a Replay ends with an error that others have changed which rows there are; nil of others.
	left func(context.Context, error) error

	decided chan struct{} // somebody has decided about the event at which the projection has stopped
}

// whole is Run in a goroutine of its own, whose end is an error too.
func (r *Running) whole(ctx context.Context) error {
	done := make(chan struct{})
	err := errors.New("its goroutine has ended (runtime.Goexit); restart the server")
	go func() {
		defer close(done)
		err = r.Run(ctx)
	}()
	<-done
	return err
}

// pollEvery is how often a server looks for what others have changed: decisions about events, and which rows there are.
const pollEvery = 5 * time.Second

// await returns true when the event is decided, here or by another server, and false at the end of the context.
func (r *Running) await(ctx context.Context, stop *projection.StopError) bool {
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-r.decided:
			return true
		case <-look.C:
			if decided, err := r.CanResume(ctx, stop); err == nil && decided {
				return true
			}
		}
	}
}

// Decide lets the projection go on where it has stopped at the event, about which somebody has decided, or where that
// was one of its dead letters, of which there were too many.
func (r *Running) Decide(ctx context.Context, event string) {
	stop := r.stoppedAt()
	if stop == nil {
		return
	}
	goesOn := stop.Event == event
	if !goesOn && stop.TooManyDeadLetters() {
		decided, err := r.CanResume(ctx, stop) // on an error, await finds it out
		goesOn = err == nil && decided
	}
	if goesOn {
		r.resume()
	}
}

// stoppedAt is the event at which the projection has stopped, nil where it has not.
func (r *Running) stoppedAt() *projection.StopError {
	_, err := r.state()
	var stop *projection.StopError
	errors.As(err, &stop)
	return stop
}

// resume lets the projection go on where it has stopped at an event.
func (r *Running) resume() {
	if r.stoppedAt() == nil {
		return
	}
	select {
	case r.decided <- struct{}{}:
	default: // it is known already
	}
}

// lastRun is how the last call of Run has gone.
type lastRun struct {
	mu    sync.Mutex
	ended bool
	told  bool  // to end, as for a switch, after which another follows
	err   error // nil where it was told to end
}

func (r *lastRun) begins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.told, r.err = false, false, nil
}

func (r *lastRun) ends(told bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.told, r.err = true, told, err
}

func (r *lastRun) wasTold() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

func (r *Running) state() (ended bool, err error) {
	r.last.mu.Lock()
	defer r.last.mu.Unlock()
	return r.last.ended, r.last.err
}

// silence is how long a runner may give no sign of life, or try again in vain to build rows.
const silence = time.Minute

// RebuildingError says why a server is not ready whose rows are being built, or are built and do not serve yet.
type RebuildingError string

func (e RebuildingError) Error() string { return string(e) }

// StoppedError says why a server is not ready whose rows do not get on, though no projection has stopped: they are of
// another version, too far behind, and nobody builds others here.
type StoppedError string

func (e StoppedError) Error() string { return string(e) }

func rebuilding(format string, args ...any) error {
	return RebuildingError(fmt.Sprintf(format, args...))
}

// ready returns why the rows of the projection must not be trusted to be up to date, nil where they may: it has been at
// the goal once, is no more events behind than it may be, and goes on or has come to the end of its source.
func (r *Running) ready(ctx context.Context, heads *projection.Heads, goal eventlog.Offsets, lag uint64) (
	projection.Status, error) {
	s, err := r.healthy(ctx, heads)
	switch {
	case err != nil:
	case s.Frozen:
		err = frozenRows{r}.awaitSwitch(&s)
	case r.answers(): // then healthy is ready
	case s.Rebuilding:
		err = rebuilding("projection %s is rebuilding its rows, %s behind", r.Name, plural.Count(s.Lag, "event"))
	case !r.reached(&s, goal):
		err = fmt.Errorf("projection %s is catching up, %s behind", r.Name, plural.Count(s.Lag, "event"))
	case s.Lag > lag:
		err = fmt.Errorf("projection %s is %s behind, more than the %d of ready-lag", r.Name, plural.Count(s.Lag, "event"),
			lag)
	}
	return s, err
}

// frozenRows are a projection whose rows this program does not fold.
type frozenRows struct{ *Running }

// awaitSwitch returns why a server that is to be ready only with rows of its own is not.
func (f frozenRows) awaitSwitch(s *projection.Status) error {
	f.unit.mu.Lock()
	gained := f.unit.found.gained // then rows are built on request alone
	f.unit.mu.Unlock()
	if !f.unit.set.keep.Rebuilt || gained {
		return nil
	}
	if lacks := f.build.losses(); s.Build != nil && lacks != (lost{}) {
		return rebuilding("projection %s has built its rows, and ready-when is rebuilt: %s", f.Name, lacks.waits())
	}
	return rebuilding("projection %s has not built its rows yet, and ready-when is rebuilt", f.Name)
}

// healthy returns why the rows cannot be trusted: nobody else folds them, nor are others built that will follow them. A
// build that has stopped is told in any case, since it waits for somebody to act; one that fails for now is no reason
// where the rows are up to date.
func (f frozenRows) healthy(s *projection.Status, goal eventlog.Offsets, lag uint64) error {
	isBehind := s.Lag > lag || !f.reached(s, goal)
	switch {
	case s.Build == nil && isBehind:
		return StoppedError(fmt.Sprintf("projection %s serves the rows of another version, which are %s behind: %s", f.Name,
			plural.Count(s.Lag, "event"), s.LastError))
	case s.Build == nil || s.Build.State != projection.StateStopped && !isBehind:
		return nil
	}
	if err := CheckBuild(s.Build); err != nil {
		return fmt.Errorf("projection %s serves the rows of another version, which are %s behind, and %w", f.Name,
			plural.Count(s.Lag, "event"), err)
	}
	return nil
}

// healthy returns why the rows of the projection do not get on, nil where they do or are at the end of its source.
func (r *Running) healthy(ctx context.Context, heads *projection.Heads) (projection.Status, error) {
	s, err := r.Status(ctx, heads)
	if err != nil {
		return s, err
	}
	switch ended, err := r.state(); {
	case !outageOf(r).since.IsZero():
		return s, s.CheckHealth(time.Now(), silence)
	case s.Frozen:
		return s, frozenRows{r}.healthy(&s, r.unit.set.goal, r.unit.set.ReadyLag)
	case r.answers():
		return s, followed{r}.healthy(&s, r.unit.set.ReadyLag)
	case err != nil:
		return s, fmt.Errorf("projection %s stopped: %w", r.Name, err)
	case r.last.wasTold():
		soon := s
		soon.State = projection.StateCatchingUp
		return s, soon.CheckHealth(time.Now(), silence)
	case ended:
		return s, nil
	}
	return s, s.CheckHealth(time.Now(), silence)
}

// outage is of a unit whose rows nobody folds or follows here: which there are cannot be found out, or not be changed.
type outage struct {
	since time.Time // zero where there is none
	why   string
}

// outages keeps the outage of a unit.
type outages struct {
	mu  sync.Mutex
	now outage
}

// lasts says that nobody folds or follows the rows before what has failed succeeds.
func (o *outages) lasts(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now.since.IsZero() {
		o.now.since = time.Now()
	}
	o.now.why = "which rows there are cannot be found out or changed: " + advice.Add(err).Error()
}

// over says that the rows are folded or followed.
func (o *outages) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = outage{}
}

// outageOf is the outage of a projection's unit. One that has stopped by itself does not go on after that.
func outageOf(f *Running) outage {
	if _, died := f.state(); f.unit == nil || died != nil && !otherRows(died) {
		return outage{}
	}
	f.unit.outages.mu.Lock()
	defer f.unit.outages.mu.Unlock()
	return f.unit.outages.now
}

// reached reports whether the projection has been at the goal.
func (r *Running) reached(s *projection.Status, goal eventlog.Offsets) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.caught {
		return true
	}
	at := eventlog.Offsets{}
	for _, p := range s.Partitions {
		at[p.Partition] = p.Checkpoint
	}
	r.caught = !at.Behind(goal)
	return r.caught
}

// Together are the projections whose rows change generation with those of this one, itself included.
func (r *Running) Together() []*Running {
	if r.unit == nil {
		return []*Running{r}
	}
	return r.unit.of
}
