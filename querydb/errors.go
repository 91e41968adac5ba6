package querydb

import (
	"errors"

	"github.com/foldql/foldql/querydb/driver"
)

// The closed list of what can go wrong; every error of a DB matches at most one of them by errors.Is.
var (
	ErrNotFound    = driver.ErrNotFound
	ErrConflict    = driver.ErrConflict
	ErrTooLarge    = driver.ErrTooLarge
	ErrThrottled   = driver.ErrThrottled
	ErrInvalid     = driver.ErrInvalid
	ErrUnavailable = driver.ErrUnavailable
)

// ErrStale is the answer of a MultiWriter store to a batch made of what is no longer so: see driver.ErrStale.
var ErrStale = driver.ErrStale

// What a driver adds, or says of rows that cannot be read: see driver.ErrPartial and driver.ErrDamaged.
var (
	ErrPartial = driver.ErrPartial
	ErrDamaged = driver.ErrDamaged
)

// Error is what a DB returns: the act, the thing, the cause.
type Error struct {
	Op    string // "get", "query", "apply", …
	Model string
	Key   string // printable form of the row's key, "" where no single row is meant
	Err   error
}

func (e *Error) Error() string {
	s := e.Op
	if e.Model != "" {
		s += " " + e.Model
	}
	if e.Key != "" {
		s += " row " + e.Key
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// failed wraps an error of the driver, once.
func failed(op string, m *Model, err error) error {
	if err == nil {
		return nil // before there is anything that takes memory
	}
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	return &Error{Op: op, Model: m.Name, Err: err}
}
