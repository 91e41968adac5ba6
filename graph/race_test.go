//go:build race

package graph

// Raced says that the race detector runs.
const Raced = true
