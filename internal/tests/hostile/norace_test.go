//go:build !race

package hostile

// raced says that the race detector runs.
const raced = false
