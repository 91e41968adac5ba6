package keys

import (
	"cmp"
	"slices"
)

// SortRanges puts the ranges of several selections into the order of the keys, for a page that reads one after the other:
// those of some members of a collection, say. A range that lies within another is left out; ranges of this package's
// layouts that are conditions on equality or a prefix never overlap otherwise.
func SortRanges(ranges ...Range) []Range {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int {
		lo, _, _ := a.Bounds()
		other, _, _ := b.Bounds()
		return cmp.Or(cmp.Compare(lo, other), -compareEnds(a, b)) // of two that begin together, the longer one first
	})
	out := sorted[:0]
	for _, r := range sorted {
		if len(out) == 0 || compareEnds(out[len(out)-1], r) < 0 {
			out = append(out, r)
		}
	}
	return out
}

func compareEnds(a, b Range) int {
	_, hi, bounded := a.Bounds()
	_, other, alsoBounded := b.Bounds()
	switch {
	case bounded && alsoBounded:
		return cmp.Compare(hi, other)
	case bounded:
		return -1
	case alsoBounded:
		return 1
	}
	return 0
}
