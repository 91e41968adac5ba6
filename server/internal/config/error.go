// Package config holds the options of commands as flags, environment variables and a configuration file give them,
// and checks them.
package config

import (
	"cmp"
	"fmt"
)

// Error is a mistake in the configuration.
type Error struct{ Err error }

// Error implements error.
func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e Error) Unwrap() error { return e.Err }

// Wrong says which key is wrong, how, and what to do.
func Wrong(key, format string, args ...any) error {
	return Error{Err: fmt.Errorf("%s: %w", key, fmt.Errorf(format, args...))}
}

// checkBounds refuses a value of the key below the least, or above the most.
func checkBounds[T cmp.Ordered](key string, value, least, most T) error {
	if value >= least && value <= most {
		return nil
	}
	return Wrong(key, "%v is out of bounds; give %v at least, and %v at most", value, least, most)
}
