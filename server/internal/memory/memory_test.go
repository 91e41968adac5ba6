package memory

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// keepCollector puts the collector back as it was before the test.
func keepCollector(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// percentNow is what the collector is set to.
func percentNow() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

func TestCollectorIsTunedWhereTheEnvironmentDoesNot(t *testing.T) {
	keepCollector(t)
	for _, c := range []struct {
		name              string
		cacheMB, memoryMB int64
		set               map[string]string
		percent           int
		limit             int64
	}{
		{"both by Go's variables", 64, 0, map[string]string{"GOGC": "50", "GOMEMLIMIT": "1TiB"}, 50, 1 << 40},
		{"as much as a server may take", 64, 0, nil, collectAt(inUse()), 512 << 20},
		{"from the cache", 1024, 0, nil, collectAt(inUse()), 1984 << 20},
		{"as asked for", 64, 100, nil, collectAt(inUse()), 100 << 20},
	} {
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(1 << 40)
		stop := TuneMemory(func(name string) (string, bool) {
			v, ok := c.set[name]
			return v, ok
		}, MemoryLimit(c.memoryMB, c.cacheMB, false))
		if got := percentNow(); got != c.percent {
			t.Errorf("%s: %d %%, want %d %%", c.name, got, c.percent)
		}
		if got := debug.SetMemoryLimit(-1); got != c.limit {
			t.Errorf("%s: %d bytes, want %d bytes", c.name, got, c.limit)
		}
		stop()
		if got := percentNow(); got != 50 {
			t.Errorf("%s: %d %% afterwards, want 50 %% as before", c.name, got)
		}
	}
}

func TestGarbageHasRoomBesideWhatIsInUse(t *testing.T) {
	for _, c := range []struct {
		inUseMB uint64
		percent int
	}{{0, 400}, {1, 400}, {16, 400}, {32, 200}, {40, 160}, {64, 100}, {128, 50}, {4096, 50}} {
		if got := collectAt(c.inUseMB << 20); got != c.percent {
			t.Errorf("with %d MB in use %d %%, want %d %%", c.inUseMB, got, c.percent)
		}
	}
}

// TestCollectorFollowsWhatIsInUse up and down again.
func TestCollectorFollowsWhatIsInUse(t *testing.T) {
	keepCollector(t)
	stop := PaceCollector()
	defer stop()
	until := func(what string, holds func(percent int) bool) {
		t.Helper()
		for limit := time.Now().Add(30 * time.Second); !holds(percentNow()); runtime.Gosched() {
			if time.Now().After(limit) {
				t.Fatalf("%s: still %d %%", what, percentNow())
			}
			runtime.GC() // which is what it waits for
		}
	}
	much := make([]byte, 2*garbageRoom)
	until("with much in use", func(percent int) bool { return percent == leastPercent })
	runtime.KeepAlive(much)
	until("with little in use", func(percent int) bool { return percent > leastPercent })
}
