//go:build race

package pebblestore_test

// raced says that the race detector runs.
const raced = true
