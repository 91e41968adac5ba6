package position

import (
	"errors"
	"fmt"
)

// MismatchError says that a source is not the one that rows were folded from, or has lost events of it.
type MismatchError struct {
	Projection string
	Partition  string
	// Record is what does not fit: one of the Record constants, or the words of another record.
	Record string
	// Offset is where the source is to hold the event that Event describes.
	Offset uint64
	Event  string
	// Found is what the source holds there, "" where it ends before, at End.
	Found string
	End   uint64
	// Recreated says that the partition is another, whatever events it holds: it has another identity, or the source says
	// so, and Replaced is why; "" where it does not.
	Recreated bool
	Replaced  string
	// Identity is the one that it had, "" where that is not known.
	Identity string
}

func (e *MismatchError) Error() string {
	record := fmt.Sprintf("the %s of projection %s at offset %d of partition %q is about %s", e.Record, e.Projection,
		e.Offset, e.Partition, e.Event)
	switch {
	case e.Replaced != "":
		return record + ", and the log is another than before: " + e.Replaced
	case e.Recreated && e.Identity != "":
		return record + ", in a log that was made before this one, has the identity " + e.Identity + ", and is another"
	case e.Recreated:
		return record + ", in another log than this one, which was made since"
	case e.Found == "":
		return fmt.Sprintf("%s, and the log ends at offset %d: it is another log, or an older copy", record, e.End)
	}
	return fmt.Sprintf("%s, and the log holds %s there: it is another log, or diverged from an older copy",
		record, e.Found)
}

// What can be at odds with a source: see MismatchError.Record.
const (
	RecordCheckpoint         = "checkpoint"        // how far the rows have come
	RecordReplacedCheckpoint = "former checkpoint" // how far rows had come that are being replaced
	RecordDeadLetter         = "dead letter"       // an event that could not be folded
	RecordDecision           = "decision"          // to retry or skip such an event
)

// Mismatched reports whether the error says that the source is another.
func Mismatched(err error) bool {
	var m *MismatchError
	return errors.As(err, &m)
}
