package server

import "github.com/agnivade/levenshtein"

// nearest is the name that the fewest changes of a letter make of the given one, and how many those are; "" where there
// are no names.
func nearest(name string, names []string) (best string, changes int) {
	changes = -1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(name, n); changes < 0 || d < changes {
			best, changes = n, d
		}
	}
	return best, changes
}
