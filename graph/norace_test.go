//go:build !race

package graph

// Raced says that the race detector runs. Each round of a random test takes eight times as long then, so there are few:
// the same tests run without it, too.
const Raced = false
