package config

import "github.com/agnivade/levenshtein"

// Nearest is the name that the fewest changes of a letter make of the given one, and how many those are; "" where there
// are no names.
func Nearest(name string, names []string) (best string, changes int) {
	changes = -1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(name, n); changes < 0 || d < changes {
			best, changes = n, d
		}
	}
	return best, changes
}
