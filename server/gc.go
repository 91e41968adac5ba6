package server

import "github.com/foldql/foldql/server/internal/memory"

// TuneGC has Go's garbage collector run as often as in the server, until stop is called: for programs that embed one.
// It is one setting of the whole process.
func TuneGC() (stop func()) { return memory.PaceCollector() }
