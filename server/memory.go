package server

import "runtime/debug"

// collectAt is how much garbage Go's collector lets gather, in percent of what is in use. That is little: the cache of
// the store lies outside of it, in a program built with cgo. So letting four times as much gather costs little memory
// and saves an eighth of the CPU; the limit keeps it in bounds where more is in use.
const collectAt = 400

// tuneMemory sets up the collector, except for what the environment says by Go's own variables.
func (p *places) tuneMemory(env func(string) (string, bool)) {
	if _, set := env("GOGC"); !set {
		debug.SetGCPercent(collectAt)
	}
	if _, set := env("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(p.memoryLimit())
	}
}

// memoryLimit is in bytes.
func (p *places) memoryLimit() int64 {
	if p.MemoryMB > 0 {
		return p.MemoryMB << 20
	}
	return 4 * p.CacheMB << 20
}
