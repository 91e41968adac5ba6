package driver

import "errors"

// The closed list of what can go wrong. Drivers wrap their library's errors so that errors.Is finds one of them.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrTooLarge    = errors.New("too large")
	ErrThrottled   = errors.New("throttled")
	ErrInvalid     = errors.New("invalid")
	ErrUnavailable = errors.New("unavailable")
)

// ErrStale is a Shared driver's answer to a batch that was made of rows as they no longer are, or that is too late. Some
// of its Writes may have taken effect, its Last have not. It is not among the errors above because it never reaches
// users: whoever made the batch reads again and makes another.
var ErrStale = errors.New("stale")
