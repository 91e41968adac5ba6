// Package advice says what an operator can do about errors of the store: which command to run, which the packages that
// return the errors do not know.
package advice

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Add returns the error with what the operator can do about it, and other errors as they are. An error that has its
// advice already keeps it.
func Add(err error) error {
	var advised *advisedError
	var unknown *querydb.UnknownRowsError
	switch {
	case errors.As(err, &advised):
		return err
	case errors.As(err, &unknown):
		return &advisedError{err, "restore the notes; or stop all servers and run 'server tables apply --notes-lost', " +
			"which rebuilds into other tables"}
	case errors.Is(err, driver.ErrRemovalNotAllowed):
		return &advisedError{err, "to allow it, run 'server tables plan --allow-delete', then " +
			"'server tables apply --allow-delete'"}
	case errors.Is(err, driver.ErrTablesNotReady):
		return &advisedError{err, "run 'server tables plan', then 'server tables apply'"}
	}
	return err
}

// advisedError is an error with its advice.
type advisedError struct {
	err    error
	advice string
}

func (e *advisedError) Error() string { return fmt.Sprintf("%v: %s", e.err, e.advice) }

func (e *advisedError) Unwrap() error { return e.err }
