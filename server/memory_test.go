package server

import (
	"runtime/debug"
	"testing"
)

func TestCollectorIsTunedWhereTheEnvironmentDoesNot(t *testing.T) {
	percent, limit := debug.SetGCPercent(50), debug.SetMemoryLimit(1<<40)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	for _, c := range []struct {
		name    string
		places  places
		set     map[string]string
		percent int
		limit   int64
	}{
		{"both by Go's variables", places{CacheMB: 64}, map[string]string{"GOGC": "50", "GOMEMLIMIT": "1TiB"}, 50, 1 << 40},
		{"from the cache", places{CacheMB: 64}, nil, 400, 256 << 20},
		{"as asked for", places{CacheMB: 64, MemoryMB: 100}, nil, 400, 100 << 20},
	} {
		c.places.tuneMemory(func(name string) (string, bool) { v, ok := c.set[name]; return v, ok })
		gotPercent, gotLimit := debug.SetGCPercent(c.percent), debug.SetMemoryLimit(-1)
		if gotPercent != c.percent || gotLimit != c.limit {
			t.Errorf("%s: %d %%, %d bytes; want %d %%, %d bytes", c.name, gotPercent, gotLimit, c.percent, c.limit)
		}
	}
}
