package embeddedlog_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestALogOpensAgainWhereverOpeningItWasCutShort crashes between any two operations of opening a log, each time with
// several random parts of what was not synced, and opens what is left.
func TestALogOpensAgainWhereverOpeningItWasCutShort(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fs := crashfs.New()
	for range 3 { // the first opening makes the log, later ones find its files
		var mu sync.Mutex
		var left []*crashfs.FS
		cut := errorfs.InjectorFunc(func(errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			for range 4 {
				left = append(left, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}))
			}
			return nil
		})
		appendOne(t, errorfs.Wrap(fs, cut))
		for _, after := range left {
			appendOne(t, after)
		}
		if t.Failed() {
			return
		}
		fs = left[rng.IntN(len(left))]
	}
}

// appendOne opens the log, appends the same event as ever, and closes it.
func appendOne(t *testing.T, fs vfs.FS) {
	t.Helper()
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: "log", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), batch(0, 0, 1)); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
