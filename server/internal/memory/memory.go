// Package memory sets up Go's garbage collector for a server.
package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// How much garbage gathers before Go collects it. A small heap may grow to five times what is in use, which saves CPU;
// a large one has a fixed room beside what is in use, or half as much as that, which keeps memory in bounds. The cache
// of the store lies outside of all this, in a program built with cgo.
const (
	garbageRoom  = 64 << 20
	leastPercent = 50
	mostPercent  = 400
)

// collectAt is the percentage of what is in use, in bytes, at which garbage is collected.
func collectAt(inUse uint64) int {
	return int(max(leastPercent, min(mostPercent, 100*garbageRoom/max(inUse, 1))))
}

// pacer adjusts the collector after each collection, when it is known how much is in use.
type pacer struct {
	mu      sync.Mutex
	stopped bool
}

// PaceCollector has Go's collector run as often as in the server, until stop is called: for programs that embed one. It
// is one setting of the whole process.
func PaceCollector() (stop func()) {
	p := &pacer{}
	before := debug.SetGCPercent(mostPercent)
	p.pace()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stopped = true
		debug.SetGCPercent(before)
	}
}

// pace sets the collector and comes back after the next collection: that finds a mark that nobody holds.
func (p *pacer) pace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	debug.SetGCPercent(collectAt(inUse()))
	type mark struct{ of *pacer }
	runtime.AddCleanup(&mark{p}, (*pacer).pace, p)
}

// inUse is what the last collection has left, in bytes.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TuneMemory sets up the collector, except for what the environment says by Go's own variables, until stop is called. A
// limit stays.
func TuneMemory(env func(string) (string, bool), limit int64) (stop func()) {
	if _, set := env("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(limit)
	}
	if _, set := env("GOGC"); !set {
		return PaceCollector()
	}
	return func() {}
}

// leastMemoryMB is what a server may take in all by default.
const leastMemoryMB = 576

// besideMB is what is neither Go's memory nor the cache: the program itself, and what an embedded store writes from.
const besideMB = 64

// logMB is what the cache of the log beside an embedded store holds; its recent writes are in besideMB.
const logMB = 32

// MemoryLimit is that of Go's memory, in bytes: by default the server takes twice the cache in all, and
// no less than leastMemoryMB.
func MemoryLimit(memoryMB, cacheMB int64, embedded bool) int64 {
	if memoryMB > 0 {
		return memoryMB << 20
	}
	all := max(leastMemoryMB, 2*cacheMB) - besideMB
	if cacheBesideGo && embedded {
		all -= cacheMB - cacheMB/4 + logMB // the row cache is Go's: see pebblestore.Options.CacheBytes
	}
	return all << 20
}
