//go:build !cgo

package memory

// cacheBesideGo says that the store's cache of blocks, half of its cache, is no part of Go's memory.
const cacheBesideGo = false
