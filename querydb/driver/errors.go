package driver

import (
	"errors"
	"fmt"
)

// The closed list of what can go wrong. Drivers wrap their library's errors so that errors.Is finds one of them.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrTooLarge    = errors.New("too large")
	ErrThrottled   = errors.New("throttled")
	ErrInvalid     = errors.New("invalid")
	ErrUnavailable = errors.New("unavailable")
)

// ErrOverBudget is a read that its Budget has ended. It wraps what the Budget said, and is not the store's fault.
var ErrOverBudget = errors.New("over budget")

// ErrSuspended is an ErrUnavailable of a read that was not even tried: the store has not answered others before. What
// is wrong was told with those.
var ErrSuspended = fmt.Errorf("%w for now", ErrUnavailable)

// ErrFull is what a driver adds to ErrUnavailable where the store has no space to write to: reads go on, and so do
// writes as soon as there is space.
var ErrFull = errors.New("no space left")

// ErrStale is a MultiWriter driver's answer to a batch that was made of rows as they no longer are, or that is too
// late. Some of its Writes may have taken effect, its Last have not. It is not among the errors above because it never
// reaches users: whoever made the batch reads again and makes another.
var ErrStale = errors.New("stale")

// ErrPartial is what a MultiWriter driver adds to ErrInvalid, ErrTooLarge and ErrConflict where some of the batch's
// Writes may have taken effect. What is refused without it has left no trace.
var ErrPartial = errors.New("some of the rows may have been written")

// ErrDamaged is about a stored row that no driver writes: it cannot be read, however often that is tried.
var ErrDamaged = errors.New("damaged")

// Partial adds ErrPartial to a refusal, and leaves other errors, after which the batch is tried again, as they are.
func Partial(err error) error {
	for _, refusal := range [...]error{ErrInvalid, ErrTooLarge, ErrConflict, ErrDamaged} {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%w: %w", err, ErrPartial)
		}
	}
	return err
}
