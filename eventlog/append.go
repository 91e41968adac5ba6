package eventlog

import (
	"context"
	"errors"
)

// Log is a source that events can be appended to.
type Log interface {
	Source

	// Append adds a batch of events, whole or not at all, and returns their positions, aligned with the events, when
	// they are on disk. An event whose (source, id) is there already with the same content is accepted, changes nothing
	// and has Duplicate set; with other content the batch is refused with a *ConflictError. An event without a time gets
	// the time of the append.
	Append(ctx context.Context, events []Event) ([]AppendResult, error)
}

// AppendResult says where an appended event is, and whether it was there before.
type AppendResult struct {
	Partition string
	Offset    uint64
	Duplicate bool
}

// ErrConflict is matched by *ConflictError.
var ErrConflict = errors.New("eventlog: an event of that source and id exists with other content")

// ErrMismatch is the error of an append to a log that is not the one that rows were folded from, or that lost events of
// it: what is appended there would never be folded, or not in its place.
var ErrMismatch = errors.New("eventlog: the log is not the one that the rows are folded from")

// ConflictError names the event of the batch that another event contradicts.
type ConflictError struct {
	Index      int // in the batch
	Source, ID string
}

func (e *ConflictError) Error() string {
	return "append event " + e.ID + " of source " + e.Source + ": exists with other content"
}

func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
