// Package brokenpipe keeps a program alive whose output nobody reads any more.
package brokenpipe

import (
	"os"
	"os/signal"
	"syscall"
)

// FailWrites has a write to standard output or standard error fail that nobody reads any more, where it would end the
// process. Processes that this one starts do not inherit that. It returns what ends it.
func FailWrites() (stop func()) {
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	return func() { signal.Stop(gone) }
}
