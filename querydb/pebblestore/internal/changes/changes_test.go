package changes

import (
	"testing"

	"pgregory.net/rapid"
)

// TestNoChangeIsMissed, whatever keys share a count.
func TestNoChangeIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Counts
		keys := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "keys")
		for _, k := range keys {
			for range rapid.IntRange(0, 3).Draw(t, "changes before") {
				c.Changed(k)
			}
		}
		var seen []uint64
		for _, k := range keys {
			seen = append(seen, c.Now(k))
		}
		if !c.Same(seen) {
			t.Fatal("something has changed, and nothing was")
		}
		c.Changed(rapid.SampledFrom(keys).Draw(t, "changed"))
		if c.Same(seen) {
			t.Fatal("nothing has changed, and a key was")
		}
	})
}
