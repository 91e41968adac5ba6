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
