// Package config holds the options of commands as flags, environment variables and a configuration file give them,
// and checks them.
package config

import "fmt"

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
