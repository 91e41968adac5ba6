package checkpoint

import "maps"

// Replaced are the furthest checkpoints, by partition, of rows that are being replaced. The log must go on holding
// the events that they cover, though the new rows do not show them yet: where an older log were taken meanwhile,
// events that were acknowledged would be lost, and others would take their offsets.
type Replaced map[string]Checkpoint

// reach is the offset of the last event that the checkpoint says something about.
func (c *Checkpoint) reach() uint64 {
	if c.Anchor == nil {
		return c.Offset
	}
	return max(c.Offset, c.Anchor.Offset)
}

// open are those that checkpoints have not come up to. The others are held by the checkpoints themselves.
func (c Replaced) open(checkpoints map[string]Checkpoint) Replaced {
	left := maps.Clone(c)
	maps.DeleteFunc(left, func(partition string, claim Checkpoint) bool {
		return checkpoints[partition].Offset >= claim.reach()
	})
	return left
}

// with are those when rows that have come to the checkpoints are replaced too.
func (c Replaced) with(checkpoints map[string]Checkpoint) Replaced {
	all := Replaced{}
	maps.Copy(all, c)
	for partition, at := range checkpoints {
		if claim := all[partition]; at.reach() > 0 && at.reach() >= claim.reach() {
			all[partition] = at
		}
	}
	return all
}
