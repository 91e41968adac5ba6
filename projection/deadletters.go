package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/delivery"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/upstream"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
)

// DeadLetter is an event that a projection could not fold, or that is blocked by one: it has had no effect, and
// nothing is lost.
type DeadLetter struct {
	// Ref names the event to Retry and Skip: its partition, "@", its offset.
	Ref     string    `json:"-"`
	ID      string    `json:"id"`
	Source  string    `json:"source"`
	Type    string    `json:"type"`
	Subject string    `json:"subject,omitempty"`
	Time    time.Time `json:"time"`
	// Reason is what went wrong.
	Reason string `json:"reason"`
	// BlockedBy is the Ref of the event, of the same source and subject, that this one waits for; "" where this is the
	// one that failed.
	BlockedBy string `json:"behind,omitempty"`
	// RefNotFound is the row that the event waits for, and is retried with when that appears; nil where it has failed for
	// another reason, or is blocked.
	RefNotFound *RefNotFoundError `json:"refNotFound,omitempty"`
	// AggregateTransactionOverflow is the aggregate that the event would make too large for one commit; nil where it has
	// failed for another reason, or is blocked.
	AggregateTransactionOverflow *AggregateOverflowError `json:"aggregateTransactionOverflow,omitempty"`
	// CascadeOverflow is the row that more copies follow than one commit holds; nil likewise.
	CascadeOverflow *CascadeOverflowError `json:"cascadeOverflow,omitempty"`
}

// CascadeOverflowError says that more copies of a row follow it in the commit of a change than one holds.
type CascadeOverflowError = fold.CascadeOverflowError

// AggregateOverflowError says that an aggregate has more items, or more bytes of them, than one commit may write.
type AggregateOverflowError = aggregate.OverflowError

// RefNotFoundError says that an event makes a row refer to one that is not there: Field of a row of Model is to hold a
// copy of the row of RefModel with the identifier RefID. Key is the key of the row that is not there. A row under that
// key whose identifier is another, as it differs in casing, is not that row; the reason of the dead letter names it.
type RefNotFoundError = fold.RefNotFoundError

// ErrNoDeadLetter is returned when a Ref names no dead letter.
var ErrNoDeadLetter = delivery.ErrNoDeadLetter

// ErrInvalidRef is returned for text that is not a reference to an event, such as DeadLetter.Ref.
var ErrInvalidRef = position.ErrInvalidRef

// DeadLetters lists up to limit dead letters in order of partition and offset, after the one that the Ref names, from
// the first where after is "".
func (r *Runner) DeadLetters(ctx context.Context, after string, limit int) ([]DeadLetter, error) {
	list := []DeadLetter{}
	err := r.engine.ListDeadLetters(ctx, after, limit, func(at position.Ref, l *deadletter.Letter) {
		list = append(list, DeadLetter{
			Ref: at.String(), ID: l.ID, Source: l.Source, Type: l.Type, Subject: l.Subject, Time: l.Time,
			Reason: l.Reason, BlockedBy: l.BlockedBy, RefNotFound: refNotFound(l.Missing),
			AggregateTransactionOverflow: l.Overflow, CascadeOverflow: (*CascadeOverflowError)(l.TooManyFollow),
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func refNotFound(row *deadletter.MissingRow) *RefNotFoundError {
	if row == nil {
		return nil
	}
	return &RefNotFoundError{
		Model: row.Model, Field: row.Field, RefModel: row.RefModel, RefID: row.RefID, Key: row.RowOf().Key,
	}
}

// Retry folds a dead letter now, and then, in order, the later ones of its subject that wait for it. The moment is
// recorded, so that a fold of the whole log does the same. An event that fails again stays a dead letter with its new
// reason, and so do those behind it; where that is the event asked for, Retry returns the reason.
//
// On a store that several processes write, the rows of one event are one commit, so an event that changes more of them
// than that can hold cannot be retried there; and while another process is in the middle of a commit that the event's
// rows are part of, Retry waits, for some seconds. It cannot wait for one that is about to follow one of those rows:
// such a row may go on from what was before the retry.
func (r *Runner) Retry(ctx context.Context, ref string) error {
	return r.engine.Resolve(ctx, ref, false)
}

// Skip records that a dead letter never takes effect, and folds the later ones of its subject that wait for it, as
// Retry does.
func (r *Runner) Skip(ctx context.Context, ref string) error { return r.engine.Resolve(ctx, ref, true) }

// Decision is what was decided about an event that was a dead letter, in the words of a server that gives it to others
// which fold the same log: the place at which the event is tried, or that it is skipped. Its JSON is theirs to read.
type Decision struct{ of deadletter.Upstream }

// MarshalJSON implements json.Marshaler.
func (d Decision) MarshalJSON() ([]byte, error) { return json.Marshal(&d.of) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Decision) UnmarshalJSON(text []byte) (err error) {
	d.of, err = deadletter.ParseUpstream(text)
	return err
}

// Decisions lists up to limit decisions on record about events of a projection, in order of partition and offset, after
// the one that the Ref names, from the first where after is "". Last is the Ref of the last of them.
func Decisions(ctx context.Context, db *querydb.DB, projection, after string, limit int) (all []Decision, last string,
	err error) {
	id := ""
	if after != "" {
		at, err := position.ParseRef(after)
		if err != nil {
			return nil, "", err
		}
		id = at.ID()
	}
	err = checkpoint.RecordedDecisions(ctx, db, projection, id, limit, func(d deadletter.Decision) {
		all, last = append(all, Decision{d.AsUpstream()}), d.Ref.String()
	})
	if err != nil {
		return nil, "", fmt.Errorf("list what was decided about dead letters of %s: %w", projection, err)
	}
	return all, last, nil
}

// DecisionsTaken is what has become of decisions of another server: so many were Taken over, Refused since they are not
// about events of this log, or are to be given again Later, since rows are to try the event first where a former
// decision has it.
type DecisionsTaken = upstream.Outcome

// TakeDecisions puts on record what another server that folds the same log has decided, apart from what is on record
// already, or was decided here. Rows that have not come to the event, and those of every later fold, do the same at the
// same place. Only the rows that the Runner folds are known not to have come to it on a store with one writer, and on
// others those that have folded some event of the partition. In any others [Runner.ReadDecisions] does what was
// decided. Call TakeDecisions again and again, with all that the other has.
func (r *Runner) TakeDecisions(ctx context.Context, all []Decision) (DecisionsTaken, error) {
	theirs := make([]deadletter.Upstream, len(all))
	for i := range all {
		theirs[i] = all[i].of
	}
	done, err := delivery.TakeDecisions(ctx, r.engine, theirs)
	if err != nil {
		err = fmt.Errorf("take over what was decided about dead letters of %s: %w", r.projection.Name, err)
	}
	return done, err
}
