// Package diskerr says what is wrong with a disk in the words of the contract of logs.
package diskerr

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/disk"
)

// OfOpening is an error with which a store was not opened: eventlog.ErrFull where the disk has no room for that.
func OfOpening(err error) error {
	if errors.Is(err, disk.ErrFull) {
		return fmt.Errorf("%w: %w", eventlog.ErrFull, err)
	}
	return err
}

// OfWriting is an error with which an act has failed: eventlog.ErrFull or eventlog.ErrUnwritable where that is the
// disk's; nil for none.
func OfWriting(act string, err error) error {
	var fault *disk.Fault
	switch {
	case !errors.As(err, &fault):
		return err
	case errors.Is(err, disk.ErrFull):
		return fmt.Errorf("%s: %w: %w", act, eventlog.ErrFull, err)
	}
	return fmt.Errorf("%s: %w: %w", act, eventlog.ErrUnwritable, err)
}
