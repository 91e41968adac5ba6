package encoding

import (
	"cmp"
	"strings"
)

// CompareDecimals orders two canonical decimals as numbers: -1, 0 or 1.
func CompareDecimals(a, b string) int {
	a, minusA := strings.CutPrefix(a, "-")
	b, minusB := strings.CutPrefix(b, "-")
	switch {
	case minusA && minusB:
		return compareMagnitudes(b, a)
	case minusA:
		return -1
	case minusB:
		return 1
	}
	return compareMagnitudes(a, b)
}

// compareMagnitudes compares canonical decimals without a sign: the longer integer is the greater one, and among
// equally long ones texts are in the order of the numbers.
func compareMagnitudes(a, b string) int {
	wholeA, restA, _ := strings.Cut(a, ".")
	wholeB, restB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB), strings.Compare(restA, restB))
}
