package checkpoint

import (
	"time"
)

// A row has expired, for an event, when its end is not after the watermark: the greatest time of any event of the
// partition up to that one, whatever its type and whatever became of it. So what an event finds follows from the log
// alone, and a row that has expired for one event has expired for all that follow, late ones among them: nobody can
// see whether it has been removed since. The watermark is committed with the rows, and rows are removed only below
// it.

// Later is the later one of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ExpiryWatermark is that of the checkpoint. Former versions kept none: there it is the time of the last event that
// they folded.
func (c *Checkpoint) ExpiryWatermark() time.Time {
	if c.Watermark.IsZero() && c.Anchor != nil && c.Offset > 0 {
		return c.Anchor.Time
	}
	return c.Watermark
}

// expiryWatermark is that of all partitions, the lowest of theirs: no event that is to come finds a row that ended
// before. It is zero where nothing is known of one partition.
func (b *Record) expiryWatermark() (lowest time.Time) {
	for _, c := range b.Partitions {
		at := c.ExpiryWatermark()
		if at.IsZero() {
			return at
		}
		if lowest.IsZero() || at.Before(lowest) {
			lowest = at
		}
	}
	return lowest
}
