package keys

import (
	"cmp"
	"slices"
)

// RangeOp is the comparison of a sort-key condition. They are the conditions that DynamoDB has.
type RangeOp uint8

// The comparisons. Bounds are inclusive.
const (
	RangeAll     RangeOp = iota // no condition
	RangeEqual                  // sk = Lo
	RangePrefix                 // sk begins with Lo
	RangeAtLeast                // sk >= Lo
	RangeAtMost                 // sk <= Lo
	RangeBetween                // Lo <= sk <= Hi
)

// Range is a condition on the sort keys of one partition.
type Range struct {
	Op RangeOp
	Lo string
	Hi string // Between only
}

// Bounds returns the half-open interval [lo, hi) of sort keys that the range selects; bounded is false where there is
// no upper end. A range that can select nothing has hi <= lo.
func (r Range) Bounds() (lo, hi string, bounded bool) {
	switch r.Op {
	case RangeEqual:
		return r.Lo, r.Lo + "\x00", true
	case RangePrefix:
		end, ok := prefixEnd(r.Lo)
		return r.Lo, end, ok
	case RangeAtLeast:
		return r.Lo, "", false
	case RangeAtMost:
		return "", r.Lo + "\x00", true
	case RangeBetween:
		return r.Lo, r.Hi + "\x00", true
	}
	return "", "", false
}

// Contains reports whether the range selects the sort key.
func (r Range) Contains(sk string) bool {
	lo, hi, bounded := r.Bounds()
	return sk >= lo && (!bounded || sk < hi)
}

// prefixEnd returns the least string above every string that begins with p; ok is false where there is none.
func prefixEnd(p string) (end string, ok bool) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			return p[:i] + string([]byte{p[i] + 1}), true
		}
	}
	return "", false
}

// SortRanges sorts the ranges of several selections by key and drops those that another contains, for a page that reads
// one after the other: those of some members of a collection, say. Ranges of this package's layouts that are conditions
// on equality or a prefix never overlap otherwise.
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
