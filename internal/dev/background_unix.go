//go:build unix

package dev

import (
	"os/signal"
	"syscall"
)

// failInBackground has reads of the terminal fail while this process is in the background, where they would suspend it.
// Processes that it starts inherit that, and read nothing.
func failInBackground() { signal.Ignore(syscall.SIGTTIN) }
