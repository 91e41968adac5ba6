package projection

import "time"

// A row has expired, for an event, when its end is not after the watermark: the greatest time of any event of the
// partition up to that one, whatever its type and whatever became of it. So what an event finds follows from the log
// alone, and a row that has expired for one event has expired for all that follow, late ones among them: whether it has
// been removed since is for nobody to see. The watermark is committed with the rows, and rows are removed only below
// it.

// later is the later one of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// watermark is that of the checkpoint. Former versions kept none: there it is the time of the last event that they
// folded.
func (c *checkpoint) watermark() time.Time {
	if c.Watermark.IsZero() && c.Anchor != nil && c.Offset > 0 {
		return c.Anchor.Time
	}
	return c.Watermark
}

// watermark is that of all partitions, the lowest of theirs: no event that is to come finds a row that ended before. It
// is zero where nothing is known of one partition.
func (b *build) watermark() (lowest time.Time) {
	for _, c := range b.Partitions {
		at := c.watermark()
		if at.IsZero() {
			return at
		}
		if lowest.IsZero() || at.Before(lowest) {
			lowest = at
		}
	}
	return lowest
}

// expire tells the store which rows no event can find any more. Of a partition that begins now nothing is known before
// its first commit.
func (r *Runner) expire(beginning string) {
	at := r.done.watermark()
	if _, known := r.done.Partitions[beginning]; !known {
		at = time.Time{}
	}
	r.db.SetExpiryWatermark(r.projection.Model, at)
}
