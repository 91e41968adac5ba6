package querydb

import "github.com/foldql/foldql/querydb/driver"

// The closed list of what can go wrong; every error of a DB matches at most one of them by errors.Is.
var (
	ErrNotFound    = driver.ErrNotFound
	ErrConflict    = driver.ErrConflict
	ErrTooLarge    = driver.ErrTooLarge
	ErrThrottled   = driver.ErrThrottled
	ErrInvalid     = driver.ErrInvalid
	ErrUnavailable = driver.ErrUnavailable
)

// Error is what a DB returns: the act, the thing, the cause.
type Error struct {
	Op    string // "get", "query", "apply", …
	Model string
	Key   string // printable form of the row's key, "" where no single row is meant
	Err   error
}

func (e *Error) Error() string {
	s := e.Op + " " + e.Model
	if e.Key != "" {
		s += " row " + e.Key
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
