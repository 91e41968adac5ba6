package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// StopError is why a Runner goes no further than an event, though the event and the rows do not say that it cannot be
// folded. Nothing of the event has taken effect, and all before it has.
type StopError struct {
	// Event names the event to Retry and Skip: its partition, "@", its offset.
	Event   string `json:"event"`
	ID      string `json:"id"`
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	// Reason is what is the matter, and Fix what to do about it.
	Reason string `json:"reason"`
	Fix    string `json:"fix"`

	at   ref
	torn bool // some of the event's rows may be written, so that it cannot be skipped
	// number is that of the event where it would be one dead letter too many, 0 where it stops for another reason.
	number uint64
}

// TooManyDeadLetters reports whether the Runner has stopped because of all recent dead letters, and not of the event alone:
// where enough of them are retried or skipped, it can go on.
func (s *StopError) TooManyDeadLetters() bool { return s.number > 0 }

// Error implements error.
func (s *StopError) Error() string {
	return fmt.Sprintf("stopped at event %s (id %.100q, type %.100q): %s; %s", s.Event, s.ID, s.Type, s.Reason, s.Fix)
}

func newStop(e *eventlog.Event, reason, fix string) *StopError {
	return &StopError{
		Event: refOf(e).String(), ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject,
		Reason: reason, Fix: fix, at: refOf(e),
	}
}

// stopped makes what a caller is told of an event at which each has ended.
func stopped(s *usercode.Supervisor, p *Projection, e *eventlog.Event, err error) error {
	switch {
	case stopsAt(err) != nil:
		return err
	case errors.Is(err, usercode.ErrOverdue):
		return newStop(e, fmt.Sprintf("the code of projection %s has not returned within %s", p.Name, s.Limit),
			"correct the code and restart, or skip the event; where it only needs longer, raise the time limit and restart")
	case errors.Is(err, usercode.ErrEnding):
		return fmt.Errorf("event %s is left for the next start: %w", refOf(e), context.Canceled)
	}
	return fmt.Errorf("call projection %s with event %s: %w", p.Name, refOf(e), err)
}

// stopsAt returns the StopError in err, nil where there is none.
func stopsAt(err error) *StopError {
	var s *StopError
	if errors.As(err, &s) {
		return s
	}
	return nil
}

// CanResume reports whether a Runner that was stopped can go on: the event has been skipped, another process that folds
// the same rows has come past it, or there are no longer too many dead letters.
func (r *Runner) CanResume(ctx context.Context, stop *StopError) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = r.known && !r.shared
	if err := r.open(ctx); err != nil {
		return false, err
	}
	_, decided := r.replays[stop.at]
	if stop.TooManyDeadLetters() {
		_, _, exceeded := r.exceeds(stop.at.partition, nil, stop.number)
		decided = decided || !exceeded
	}
	return decided || r.done.Partitions[stop.at.partition].Offset >= stop.at.offset, nil
}

// decide retries or skips the event at which the Runner has stopped: a retry is for the next Run to do.
func (r *Runner) decide(ctx context.Context, at ref, skip bool) error {
	if !skip {
		return nil
	}
	if r.stop.torn {
		return r.stop
	}
	r.fold.Reset(true)
	out, err := r.newOutcome(ctx, &stretch{partition: at.partition, released: true})
	if err != nil {
		return err
	}
	e, err := fetch(ctx, r.src, at.partition, at.offset)
	if err != nil {
		return err
	}
	p := replay{ref: at, Skip: true, Generation: r.done.Generation, Event: anchorOf(e)}
	out.replays = append(out.replays, p)
	out.notes = append(out.notes, p.note(r.projection.Name))
	return r.write(ctx, out)
}

// abandoned is a commit whose calls have ended at one of its items.
type abandoned struct {
	took int // items before that
	why  error
}

func (a *abandoned) Error() string { return a.why.Error() }

// abandon gives up a commit. What was evaluated for it may still be in the hands of the goroutine that was given up.
func (r *Runner) abandon(items []item, took int, err error) error {
	if s := (stuck{}); errors.As(err, &s) {
		return err
	}
	r.fold = r.projection.newFold(r.db, &r.cfg)
	return &abandoned{took, stopped(r.calls, &r.projection, items[took].event, err)}
}

// commitBefore commits the items before the one at which a commit was given up, and returns why it was.
func (r *Runner) commitBefore(ctx context.Context, s *stretch, a *abandoned) error {
	if a.took > 0 && !s.released {
		before := *s
		before.items = s.items[:a.took]
		last := &before.items[a.took-1]
		before.end, before.last, before.watermark = last.at, last.upTo, last.watermark
		if err := r.commitAll(ctx, &before); err != nil {
			return err
		}
	}
	return a.why
}
