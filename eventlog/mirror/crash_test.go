package mirror

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestACopyOutlivesCrashes copies a source that grows, and crashes at random moments, each time with a random part of
// what was not synced: what was read before is there without the source, and in the end all is there once.
func TestACopyOutlivesCrashes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	all := sourcetest.Events(6000)
	fs, dir := crashfs.New(), "mirror"
	src := newScripted(t, nil)
	added := 0
	for added < len(all) {
		m := caughtUp{open(t, Options{Dir: dir, FS: fs, Source: src}), src}
		var read atomic.Uint64 // offset of the last event that was read
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				events, err := m.Mirror.Read(ctx, partition0, read.Load(), 37)
				if err == nil && len(events) > 0 {
					read.Store(events[len(events)-1].Offset)
					continue
				}
				_ = m.Wait(ctx, eventlog.Offsets{partition0: read.Load()}) // it is tried again until the context ends
			}
		}()
		grow := 1 + rnd.IntN(700)
		for range grow {
			if added < len(all) {
				src.add(t, all[added:added+1])
				added++
			}
		}
		until(t, "read a little", func() bool { return read.Load() >= uint64(added-grow/2) })
		known := read.Load()
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[rnd.IntN(3)], RNG: rnd})
		stop()
		<-ended
		shut(t, m)
		fs = crashed

		src.leave()
		m = caughtUp{open(t, Options{Dir: dir, FS: fs, Source: src}), src}
		got := read0(t, m, known)
		wantEvents(t, all[:known], got)
		shut(t, m)
		src.back()
	}
	wantEvents(t, all, drain(t, caughtUp{open(t, Options{Dir: dir, FS: fs, Source: src}), src}, partition0, 0))
}

// read0 reads so many events of the copy from its beginning.
func read0(t testing.TB, m caughtUp, n uint64) (all []eventlog.Event) {
	t.Helper()
	for uint64(len(all)) < n {
		some := read(t, m, uint64(len(all)), int(n)-len(all))
		if len(some) == 0 {
			t.Fatalf("%d events of %d that were read before", len(all), n)
		}
		all = append(all, some...)
	}
	return all
}
