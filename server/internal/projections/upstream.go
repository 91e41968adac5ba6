package projections

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection"
)

// Upstream takes over what was decided about dead letters at the server whose log this one follows.
type Upstream struct {
	Folds *Set
	From  httpsource.Following
	Log   *slog.Logger

	seen  map[string]string // tags as they were answered last; nil where there is something left to do
	told  time.Time         // when that was
	taken map[string]string // tags of what is taken over
}

// How long to wait before a server is asked again. It answers when something is decided, or after some time; one that
// answers always at once is not to be asked without end. One that knows of no decisions may be replaced by a later
// version, and rows that are to try an event first do so within some events.
const (
	askAgain = 100 * time.Millisecond
	askLater = 5 * time.Second
	askOlder = time.Minute
)

// Begin takes over all that is decided, before anything is folded.
func (u *Upstream) Begin(ctx context.Context) error {
	_, err := u.follow(ctx)
	if errors.Is(err, httpsource.ErrNoDecisions) {
		u.Log.InfoContext(ctx, "what was decided about dead letters is not followed", "why", err)
		return nil
	}
	return err
}

// Run takes over what is decided, as it is, until the context ends.
func (u *Upstream) Run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		wait, err := u.follow(ctx)
		switch {
		case err == nil:
			failures = 0
			wait = max(wait, askAgain, min(time.Since(u.told)/2, askOlder)) // others have work to do too
		case errors.Is(err, httpsource.ErrNoDecisions):
			wait = askOlder
		default:
			if failures == 0 && ctx.Err() == nil {
				u.Log.WarnContext(ctx, "what was decided about dead letters at the server that is followed is not known; trying "+
					"again", "error", err)
			}
			wait = backoff.Delay(100*time.Millisecond, askLater, failures)
			failures++
		}
		if backoff.Wait(ctx, wait) != nil {
			return
		}
	}
}

// follow waits until there are other decisions, and takes them over. It returns how long to wait before the rest.
func (u *Upstream) follow(ctx context.Context) (wait time.Duration, err error) {
	tags, err := u.From.Tags(ctx, u.seen)
	if err != nil {
		return 0, err
	}
	u.seen, u.told = nil, time.Now()
	if u.taken == nil {
		u.taken = map[string]string{}
	}
	for _, one := range u.Folds.All {
		tag := tags[one.Name]
		if tag == "" || tag == u.taken[one.Name] {
			continue
		}
		done, err := u.takeOver(ctx, one)
		if err != nil {
			return 0, err
		}
		if done.Later > 0 {
			wait = askLater
			continue
		}
		u.taken[one.Name] = tag
	}
	if wait == 0 {
		u.seen = tags
	}
	return wait, nil
}

// takeOver takes over what is decided about events of one projection.
func (u *Upstream) takeOver(ctx context.Context, one *Running) (done projection.DecisionsTaken, err error) {
	var all []projection.Decision
	err = u.From.Each(ctx, one.Name, func(page []json.RawMessage) error {
		for _, text := range page {
			var d projection.Decision
			if err := json.Unmarshal(text, &d); err != nil {
				u.Log.WarnContext(ctx, "a decision of the server that is followed is not understood", "projection", one.Name,
					"error", err)
				continue
			}
			all = append(all, d)
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	done, err = one.Decisions().TakeOver(ctx, all)
	if done.Taken > 0 || done.Refused > 0 {
		u.Log.InfoContext(ctx, "decisions about dead letters taken over", "projection", one.Name, "taken", done.Taken,
			"refused", done.Refused)
	}
	return done, err
}

// TakeOver puts on record what another server has decided, and does it to the rows that serve and to those that are
// built. Before anything is folded, that is left to who folds.
func (d Decisions) TakeOver(ctx context.Context, all []projection.Decision) (projection.DecisionsTaken, error) {
	done, err := d.take(ctx, all)
	if done.Taken == 0 || !started(d.Running) {
		return done, err
	}
	d.tell()
	return done, errors.Join(err, d.settle(ctx))
}

// take holds the generations as they are, since a decision names them.
func (d Decisions) take(ctx context.Context, all []projection.Decision) (projection.DecisionsTaken, error) {
	defer d.holdGenerations()()
	return d.Runner.TakeDecisions(ctx, all)
}

// settle does what is decided.
func (d Decisions) settle(ctx context.Context) (err error) {
	defer d.holdGenerations()()
	if _, _, frozen := d.frozen.now(); !frozen {
		err = d.Runner.ReadDecisions(ctx)
	}
	b := d.build.runner()
	if b != nil {
		err = errors.Join(err, b.ReadDecisions(ctx))
		b.Decide(ctx, "")
	}
	d.Decide(ctx, "")
	if otherRows(err) {
		return nil
	}
	return err
}
