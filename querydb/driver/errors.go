package driver

import (
	"errors"
	"fmt"
)

// What can go wrong, completely. Drivers wrap the errors of their library so that errors.Is finds one of these.
var (
	ErrNotFound    = errors.New("not found")   // what was asked for does not exist; rows are answered without it
	ErrConflict    = errors.New("conflict")    // the key, or that of a unique index, is another row's
	ErrTooLarge    = errors.New("too large")   // the row, or the batch
	ErrThrottled   = errors.New("throttled")   // the store takes no more at the moment
	ErrInvalid     = errors.New("invalid")     // the call can never succeed
	ErrUnavailable = errors.New("unavailable") // the store cannot be reached, or is closed
)

// ErrOverBudget is the error of a read that its Budget has ended. It wraps the error of the Budget; the store has not
// failed.
var ErrOverBudget = errors.New("over budget")

// ErrSuspended is an ErrUnavailable of a read that was not even tried, because the store has not answered others
// before. Their errors say what is wrong.
var ErrSuspended = fmt.Errorf("%w for now", ErrUnavailable)

// ErrTablesNotReady is an ErrUnavailable of a driver whose tables are created externally: a table or an index does not
// exist, or is not as the rows need it.
var ErrTablesNotReady = fmt.Errorf("%w: the tables are not ready", ErrUnavailable)

// ErrRemovalNotAllowed says that tables can be made as the rows need them only by removing an index, and that the
// caller has not allowed it.
var ErrRemovalNotAllowed = errors.New("removal is not allowed")

// ErrFull accompanies ErrUnavailable where the store has no space left to write to. Reads continue, and writes do as
// soon as there is space.
var ErrFull = errors.New("no space left")

// ErrStale is returned by a MultiWriter driver when a batch rests on rows that have changed since they were read, or is
// too late. Some of its Writes may have taken effect, its Last have not. It is not among the errors above because it
// never reaches users: whoever made the batch reads again and makes another.
var ErrStale = errors.New("stale")

// ErrLate is the ErrStale of a batch that was not written by its Deadline. Nobody else need have written anything: the
// same batch may be late again, and a smaller one in time.
var ErrLate = fmt.Errorf("%w: it was not written by its deadline", ErrStale)

// ErrPartial accompanies ErrInvalid, ErrTooLarge, ErrConflict and ErrDamaged of a MultiWriter driver where some of the
// batch's Writes may have taken effect. A batch that is refused without it has changed nothing.
var ErrPartial = errors.New("some of the rows may have been written")

// ErrDamaged says that a stored row cannot be read, even on retry: no driver has written it as it is.
var ErrDamaged = errors.New("damaged")

// Partial adds ErrPartial to an error that refuses a batch. It leaves other errors, after which the batch is tried
// again, as they are.
func Partial(err error) error {
	for _, refusal := range [...]error{ErrInvalid, ErrTooLarge, ErrConflict, ErrDamaged} {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%w: %w", err, ErrPartial)
		}
	}
	return err
}
