package server

import "fmt"

// configError is a mistake in the configuration.
type configError struct{ error }

func (e configError) Unwrap() error { return e.error }

// wrongConfig says which key is wrong, how, and what to do.
func wrongConfig(key, format string, args ...any) error {
	return configError{fmt.Errorf("%s: %w", key, fmt.Errorf(format, args...))}
}
