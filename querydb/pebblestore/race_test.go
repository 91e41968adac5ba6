//go:build race

package pebblestore

// Raced says that the race detector runs.
const Raced = true
