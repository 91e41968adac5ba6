package projection

import (
	"context"
	"time"

	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/delivery"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
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
// copy of the row of RefModel with the identifier RefID. Key is the key of the row that is not there.
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
