package projection

import "maps"

// claims are the furthest checkpoints, by partition, of rows that are being replaced. The log must go on holding the
// events that they cover, though the new rows do not show them yet: where an older log were taken meanwhile, events that
// were acknowledged would be lost, and others would take their offsets.
type claims map[string]checkpoint

// reach is the offset of the last event that the checkpoint says something about.
func (c *checkpoint) reach() uint64 {
	if c.Anchor == nil {
		return c.Offset
	}
	return max(c.Offset, c.Anchor.Offset)
}

// open are the claims that checkpoints have not come up to. The others are held by the checkpoints themselves.
func (c claims) open(checkpoints map[string]checkpoint) claims {
	left := maps.Clone(c)
	maps.DeleteFunc(left, func(partition string, claim checkpoint) bool {
		return checkpoints[partition].Offset >= claim.reach()
	})
	return left
}

// with are the claims when rows that have come to the checkpoints are replaced too.
func (c claims) with(checkpoints map[string]checkpoint) claims {
	all := claims{}
	maps.Copy(all, c)
	for partition, at := range checkpoints {
		if claim := all[partition]; at.reach() > 0 && at.reach() >= claim.reach() {
			all[partition] = at
		}
	}
	return all
}
