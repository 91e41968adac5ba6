package eventlog

import (
	"errors"
	"fmt"
)

// ForgottenError says that a source has had events after an offset and has them no more, since it keeps events for a
// time only: who reads on there would pass them over.
type ForgottenError struct {
	Partition string
	After     uint64 // the offset that the reader asked for
	First     uint64 // the first offset that the source still has, or the next that it will have
}

func (e *ForgottenError) Error() string {
	return fmt.Sprintf("the events of partition %q after offset %d are needed, and the source has forgotten them: "+
		"it begins at offset %d", e.Partition, e.After, e.First)
}

// ForgottenIn returns the *ForgottenError in err, nil where there is none.
func ForgottenIn(err error) *ForgottenError {
	var f *ForgottenError
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// ReplacedError says that a partition is not the one any more that the source has read: it was deleted and made anew,
// or has lost its last events. Offsets of the former one mean nothing in it.
type ReplacedError struct {
	Partition string
	Reason    string
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("partition %q is another than before: %s", e.Partition, e.Reason)
}

// Replaced reports whether the error says that a partition is another than before.
func Replaced(err error) bool {
	var r *ReplacedError
	return errors.As(err, &r)
}
