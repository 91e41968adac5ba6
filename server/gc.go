package server

import "github.com/foldql/foldql/server/internal/memory"

// TuneGC gives the process the server's garbage-collection settings until stop is called, for programs that embed a
// server.
func TuneGC() (stop func()) { return memory.PaceCollector() }
