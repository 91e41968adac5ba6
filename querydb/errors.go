package querydb

import (
	"errors"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// What can go wrong, completely; every error of a DB matches at most one of them by errors.Is.
var (
	ErrNotFound    = driver.ErrNotFound    // there is no such note
	ErrConflict    = driver.ErrConflict    // another row has the key, or that of a unique index; or the Orphan serves
	ErrTooLarge    = driver.ErrTooLarge    // the row, or the batch
	ErrThrottled   = driver.ErrThrottled   // the store takes no more at the moment: try again later
	ErrInvalid     = driver.ErrInvalid     // the call can never succeed
	ErrUnavailable = driver.ErrUnavailable // the store cannot be reached, is closed, or has no rows to serve yet
)

// ErrStale is returned when a batch rests on rows, notes or a generation that have changed since they were read: see
// driver.ErrStale. Read again, and apply another batch.
var ErrStale = driver.ErrStale

// ErrLate is the ErrStale of a batch that a MultiWriter store has not written by its Deadline: see driver.ErrLate.
// Apply a smaller one.
var ErrLate = driver.ErrLate

// ErrPartial accompanies another error of Apply where some rows of the batch may have been written, which can happen on
// a MultiWriter store: see driver.ErrPartial. A batch that is refused without it has changed nothing.
var ErrPartial = driver.ErrPartial

// ErrTablesNotReady is an ErrUnavailable of a store whose tables are created externally: a table or an index does not
// exist, or is not as the rows need it.
var ErrTablesNotReady = driver.ErrTablesNotReady

// ErrDamaged says that a stored row cannot be read, even on retry: see driver.ErrDamaged.
var ErrDamaged = driver.ErrDamaged

// Error is the error of a DB: what it was doing, to which row of which model, and the cause.
type Error struct {
	Op    string // "get", "query", "apply", …
	Model string
	Key   string // printable form of the row's key, "" where it is not about a single row
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
	// That a call can never succeed is for programs to know, and "invalid" says nothing to who reads why.
	return s + ": " + strings.TrimPrefix(e.Err.Error(), ErrInvalid.Error()+": ")
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
