//go:build cgo

package memory

// cacheBesideGo says that the store's cache of blocks is no part of Go's memory.
const cacheBesideGo = true
