package projections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
)

// Keep configures how rows go on serving while others are built beside them.
type Keep struct {
	DB *querydb.DB
	// Manual: a generation that is built serves when somebody asks for it. Else it does as soon as it can.
	Manual bool
	// Former is how long a generation is kept after another has followed it.
	Former time.Duration
	// Budget is what all builds of the process have together.
	Budget *projection.Budget
	// Rebuilt: the server is ready only when the rows that it builds serve.
	Rebuilt bool
	// Off: other servers fold the rows, and this one only answers.
	Off bool
}

// unit are projections whose rows change generation together.
type unit struct {
	set         *Set
	of          []*Running
	projections []projection.Projection
	asks        chan ask
	outages     outages
	pending     switchAgain   // which an operator waits for, while another asks for something else
	ended       chan struct{} // nothing more is folded

	prepared *survey // by prepareUnit, for the first phase; nil after that

	beginning beginning

	left *survey // at which who folds has found other rows last

	losses losses
	needed time.Time         // when it is looked again whether others need the former rows; the zero time is now
	stuck  map[string]uint64 // as builtThrough, when what is built could not catch up with what serves; nil where it could

	// arranging is held while generations change, and shared by whoever decides about a dead letter: a decision names
	// the generations that there are, and takes effect in those that it was made for.
	arranging sync.RWMutex

	mu       sync.Mutex
	found    survey // what is on record, as far as it is known
	switches bool   // other rows are about to serve than those found
	folded   bool   // this program has folded the rows that served
}

// errEnded says that everybody who folds has ended, with the source or for good.
var errEnded = errors.New("the projections have ended")

// act is what a unit does between two times of folding.
type act func(ctx context.Context) error

// run folds what is to be folded, and changes generations as they are ready or somebody asks, until the context ends.
func (u *unit) run(ctx context.Context) {
	defer close(u.ended)
	defer func() { u.pending.giveUp() }()
	for failures := 0; ctx.Err() == nil; {
		next, err := u.phase(ctx)
		switch {
		case err == errEnded:
			return
		case err != nil:
			u.outages.lasts(err)
		case next != nil:
			err = next(context.WithoutCancel(ctx))
		}
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		u.set.Mismatches(err)
		u.log(slog.LevelError, "the generations of rows cannot be changed; trying again", "error", advice.Add(err))
		if backoff.Wait(ctx, backoff.Delay(100*time.Millisecond, 5*time.Second, failures)) != nil {
			return
		}
		failures++
	}
}

func (u *unit) log(level slog.Level, text string, args ...any) {
	u.set.log.Log(context.Background(), level, text, append([]any{"projections", names(u.projections)}, args...)...)
}

func names(of []projection.Projection) (all []string) {
	for _, p := range of {
		all = append(all, p.Name)
	}
	return all
}

// prepareUnit has queries read what serves, before anybody folds, by a look that is not older than since.
func prepareUnit(ctx context.Context, u *unit, since time.Time) error {
	found, err := lookWithOthers(ctx, u, since)
	if err != nil {
		return advice.Add(err)
	}
	if err := u.serve(ctx, &found); err != nil {
		return err
	}
	u.prepared = &found
	for i, one := range u.of {
		if !found.folds {
			if err := one.frozen.freeze(ctx, found.why, nil); err != nil {
				return advice.Add(err)
			}
			continue
		}
		if u.set.keep.Off {
			continue // serve has looked
		}
		if err := one.LoadFound(ctx, &found.all[i]); err != nil && !otherRows(err) {
			return fmt.Errorf("prepare projection %s: %w", one.Name, advice.Add(err))
		}
	}
	return nil
}

// firstSurvey is that of the next phase: that of prepareUnit, where it still holds.
func firstSurvey(ctx context.Context, u *unit) (survey, error) {
	found := u.prepared
	u.prepared = nil
	if found != nil && u.set.keep.DB.MultiWriter() {
		if holds, err := found.holds(ctx, u); err != nil || holds {
			return *found, err
		}
	}
	return u.look(ctx)
}

// phase folds until something else is to be done, and returns that. Nobody folds then, nor before another phase where
// it fails.
func (u *unit) phase(ctx context.Context) (act, error) {
	found, err := firstSurvey(ctx, u)
	if err == nil {
		if !found.begins {
			u.beginning.ends()
		}
		err = u.changeOver(ctx, &found)
	}
	switch {
	case err == errOthersServe:
		return nil, nil
	case err != nil:
		return nil, err
	case u.set.keep.Off:
		return nil, followingUnit{u}.follow(ctx, &found)
	}
	if do := arrangement(u, &found); do != nil {
		return nil, do(context.WithoutCancel(ctx))
	}
	if dropsFormer(ctx, u, &found) { // and no query reads them here any more
		return nil, u.rearranging(querydb.DropFormer, "the former rows are no longer kept")(context.WithoutCancel(ctx))
	}
	serving, building := newCrew(ctx), newCrew(ctx)
	defer u.buildsNone()
	defer building.end()
	defer serving.end()
	for _, one := range u.of {
		if one.crew = serving; found.folds {
			if err := one.takesOver(ctx); err != nil {
				return nil, err
			}
			serving.add(func(ctx context.Context) { u.set.keepRunning(ctx, one) })
		} else {
			look := func(ctx context.Context) { one.frozen.look(ctx, serving.away) }
			serving.add(func(ctx context.Context) { one.frozen.follow(ctx, look) })
			countLacks(u, one, serving)
		}
	}
	if found.builds {
		if err := u.build(building); err != nil {
			return nil, err
		}
	}
	u.outages.over()
	next, err := u.await(ctx, &found, serving, building)
	if err == errLeft {
		return nil, u.leave(&found)
	}
	return next, err
}

// errLeft says that somebody who folds has found other rows than there are by the survey.
var errLeft = errors.New("who folds has found other rows")

// leave is nil where another survey is to tell which rows there are, and an error where it has told the same before:
// nobody is to begin with these again at once.
func (u *unit) leave(found *survey) error {
	same := u.left != nil && u.left.fingerprint == found.fingerprint && u.left.same(found)
	u.left = found
	if same {
		return errors.New("who folds the rows finds that they are not the ones on record, and another look at the record " +
			"finds the same: look after their tables with 'server tables plan'; drop what is being built with 'server " +
			"rebuild abort'")
	}
	return nil
}

// changeOver has queries read what serves now. Meanwhile they may read those rows or the ones before, of which either
// can be behind the other: the status is that of the rows that are further behind.
func (u *unit) changeOver(ctx context.Context, found *survey) error {
	u.mu.Lock()
	others := u.found.differs(found)
	u.mu.Unlock()
	back := false
	for _, one := range u.of {
		was, why, frozen := one.frozen.now()
		if found.folds && !frozen && !others {
			continue
		}
		if !frozen {
			was = one.Runner.Reached()
		}
		if !found.folds {
			why = found.why
			if found.begins && why == "" {
				why, _ = u.beginning.failing()
			}
		}
		if err := one.frozen.freeze(ctx, why, &was); err != nil {
			return err
		}
		at, _, _ := one.frozen.now()
		back = back || at.Offsets.Behind(was.Offsets)
	}
	if back { // said before it is so
		u.set.Setbacks.Add(1)
	}
	if err := u.serve(ctx, found); err != nil {
		return err
	}
	for _, one := range u.of {
		if err := one.frozen.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await waits until something is to be done other than to fold.
func (u *unit) await(ctx context.Context, found *survey, serving, building *crew) (act, error) {
	w := waiting{unit: u, found: found, serving: serving, building: building, ended: serving.ended(), logged: time.Now(),
		look: time.NewTicker(found.pollInterval()), again: u.pending}
	u.pending = switchAgain{}
	defer w.look.Stop()
	defer func() { w.again.giveUp() }()
	if w.again.pends() {
		if !found.waits() {
			return nil, nil
		}
		if err := w.switchAgain(); err != nil {
			return nil, err
		}
	}
	if found.builds || found.begins {
		w.ended = nil // what is built is yet to serve
	}
	for {
		var next act
		var over bool
		var err error
		select {
		case <-ctx.Done():
			return nil, nil
		case <-w.ended:
			return nil, w.howEnded()
		case <-serving.moved:
			return nil, errLeft
		case <-building.moved:
			return nil, errLeft
		case a := <-u.asks:
			next, over, err = w.answer(ctx, a)
		case <-w.look.C:
			next, over, err = w.lookAgain(ctx)
		}
		if over || err != nil {
			return next, err
		}
	}
}

// waiting is a unit that folds, until something else is to be done.
type waiting struct {
	*unit
	found             *survey
	serving, building *crew
	again             switchAgain     // which an operator waits for
	ended             <-chan struct{} // nil where more is to follow than what serves
	look              *time.Ticker
	logged            time.Time // when it was, how far what is built has come
}

// switchAgain builds on, for who waits to switch to those rows.
func (w *waiting) switchAgain() error {
	if err := w.again.build(w.unit, w.building); err != nil {
		return err
	}
	w.ended, w.logged = nil, time.Now()
	w.look.Reset(pollBuildEvery)
	return nil
}

// howEnded says why nobody folds what serves any more.
func (w *waiting) howEnded() error {
	select {
	case <-w.serving.moved:
		return errLeft
	default:
		return errEnded
	}
}

// answer answers what somebody asks for, or returns what is to be done for it.
func (w *waiting) answer(ctx context.Context, a ask) (next act, over bool, err error) {
	if why := refusal(ctx, w.unit, a, w.found, &w.again); why != "" {
		a.done <- why
		same, err := w.found.isStill(ctx, w.unit)
		return nil, !same, err
	}
	if w.again.is(a, w.found) {
		w.again.asked = &a
		return nil, false, w.switchAgain()
	}
	w.pending, w.again = w.again, switchAgain{}
	return w.asked(ctx, a, w.serving, w.building), true, nil
}

// lookAgain looks whether something is to be done that nobody has asked for.
func (w *waiting) lookAgain(ctx context.Context) (next act, over bool, err error) {
	if w.found.begins && w.beginning.isOver() {
		return nil, true, nil
	}
	if w.again.pends() {
		if w.built(ctx) {
			return w.again.answering(w.switched(ctx, w.serving, w.building)), true, nil
		}
		if !w.again.getsOn(ctx, w.unit) {
			return nil, true, nil
		}
	}
	if (w.found.builds || w.again.pends()) && time.Since(w.logged) >= progressEvery {
		w.logged = time.Now()
		w.logProgress(ctx)
	}
	if w.found.switches(w.set.keep) && w.built(ctx) && getsOn(ctx, w.unit) && w.losses.none(ctx, w.unit) {
		return w.switchedUnasked(ctx, w.serving, w.building), true, nil
	}
	if dropsFormer(ctx, w.unit, w.found) {
		return w.rearranging(querydb.DropFormer, "the former rows are no longer kept"), true, nil
	}
	same, err := w.found.isStill(ctx, w.unit)
	return nil, !same, err
}

// pollBuildEvery is how often it is looked whether something is to be done about rows that are built.
const pollBuildEvery = 250 * time.Millisecond

// pollInterval is how often it is looked whether something is to be done.
func (s *survey) pollInterval() time.Duration {
	if s.builds {
		return pollBuildEvery
	}
	return pollEvery
}

// serve has queries read what serves.
func (u *unit) serve(ctx context.Context, found *survey) error {
	u.mu.Lock()
	u.found, u.switches = *found, false
	u.folded = u.folded || found.folds
	u.mu.Unlock()
	all, g := models(u.projections), u.set.keep.DB.Generations()
	switch {
	case !found.folds:
		return serveFormer(ctx, u.set.keep.DB, all, found)
	case u.set.keep.Off:
		return followingUnit{u}.serve(ctx, found)
	case found.every(ownServing):
		return g.UseAll(ctx, all)
	}
	return nil // whoever folds them says which they are
}
