package server

// nearest is the name that the fewest changes of a letter make of the given one; "" where there are none.
func nearest(name string, names []string) (best string) {
	least := -1
	for _, n := range names {
		if d := distance(name, n); least < 0 || d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many bytes are to be changed, taken out or put in to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what was read of a, to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
