package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// StopError says at which event a projection has stopped, and why: see projection.StopError.
type StopError struct {
	// Event names the event to Skip: its partition, "@", its offset.
	Event   string `json:"event"`
	ID      string `json:"id"`
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	// Reason is what is the matter, and Fix what to do about it.
	Reason string `json:"reason"`
	Fix    string `json:"fix"`

	at       position.Ref
	done     position.Cursor // how far the projection would have come with it; of no use where it is released
	partial  bool            // some of the event's rows may be written, so that it cannot be skipped
	released bool            // it is a dead letter that was tried again, which the projection has come past
	// number is that of the event where it would be one dead letter too many, 0 where it stops for another reason.
	number uint64
}

// TooManyDeadLetters reports whether the projection has stopped because of all recent dead letters, and not of the
// event alone: where enough of them are retried or skipped, it can go on.
func (s *StopError) TooManyDeadLetters() bool { return s.number > 0 }

// Error implements error.
func (s *StopError) Error() string {
	return fmt.Sprintf("stopped at event %s (id %.100q, type %.100q): %s; %s", s.Event, s.ID, s.Type, s.Reason, s.Fix)
}

func newStop(it *item, reason, fix string) *StopError {
	e, at := it.event, position.RefOf(it.event)
	return &StopError{
		Event: at.String(), ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject,
		Reason: reason, Fix: fix, at: at, done: it.at, released: it.released,
	}
}

// outdated is the stop at an event that a program of a later schema can fold: it is no dead letter, because what
// becomes of an event must hang on the event and the rows alone.
func outdated(it *item, unknown *eventlog.UnknownVersionError) *StopError {
	return newStop(it, unknown.Error(), fmt.Sprintf("start a program whose schema has @version(n: %d) of the event, "+
		"which goes on from here; or skip the event", unknown.Version))
}

// stopped makes the error for an item at which the calls of user code have ended.
func stopped(s *usercode.Supervisor, projection string, it *item, err error) error {
	switch {
	case StopOf(err) != nil:
		return err
	case errors.Is(err, usercode.ErrOverdue):
		return newStop(it, fmt.Sprintf("the code of projection %s has not returned within %s", projection, s.Limit),
			"correct the code and restart, or skip the event; where it only needs longer, raise the time limit and restart")
	case errors.Is(err, usercode.ErrEnding):
		return fmt.Errorf("event %s is left for the next start: %w", position.RefOf(it.event), context.Canceled)
	}
	return fmt.Errorf("call projection %s with event %s: %w", projection, position.RefOf(it.event), err)
}

// mismatched makes the error of a run that has ended, where that is that a partition is another than before: the reader
// finds that, with all that it has read folded, and so does whoever reads an event that is retried.
func mismatched(r *Runner, err error) error {
	var replaced *eventlog.ReplacedError
	if !errors.As(err, &replaced) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at, event := r.state.Done().Partitions[replaced.Partition], "no event yet"
	if at.Reach() > 0 {
		event = at.Anchor.String()
	}
	return &position.MismatchError{
		Projection: r.projection.Name, Partition: replaced.Partition, Record: position.RecordCheckpoint,
		Offset: at.Reach(), Event: event, Recreated: true, Replaced: replaced.Reason,
	}
}

// StopOf returns the StopError in err, nil where there is none.
func StopOf(err error) *StopError {
	var s *StopError
	if errors.As(err, &s) {
		return s
	}
	return nil
}

// CanResume reports whether a Runner that was stopped can go on: see projection.Runner.CanResume.
func (r *Runner) CanResume(ctx context.Context, stop *StopError) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := (settler{releaser{r}}).readDecisions(ctx); err != nil {
		return false, err
	}
	d, known := r.state.Decisions[stop.at]
	if stop.released { // that the projection has come past it says nothing, nor what was decided before
		return known && d.Skip || !r.state.Letters.Has(stop.at), nil
	}
	decided := (releaser{r}).newPlan().Moved[stop.at] // else it is tried at its own place again, as it was
	if stop.TooManyDeadLetters() {
		_, _, exceeded := deadletter.Limit(r.cfg.MaxDeadLetterPercent).Exceeded(r.state.Letters, stop.at.Partition, nil,
			stop.number)
		decided = decided || !exceeded
	}
	if stop.done.Replayed > 0 { // that its retry is to be repeated was decided before
		decided = !known || d.Skip || d.Done() != stop.done
	}
	return decided || !r.state.Done().Partitions[stop.at.Partition].Before(stop.done), nil
}
