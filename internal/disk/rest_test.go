package disk

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowFile takes some time for each write.
type slowFile struct{ vfs.File }

func (slowFile) Write(p []byte) (int, error) {
	time.Sleep(100 * time.Microsecond)
	return len(p), nil
}

// TestWhoWritesATableRestsAgainAndAgain, and nobody else does: a commit waits for the log.
func TestWhoWritesATableRestsAgainAndAgain(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"data/000007.sst": 100*100*time.Microsecond + 9*restTime, // before the 11th write, the 21st …
		"data/000008.log": 100 * 100 * time.Microsecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			d, _ := opened(t)
			f := fileSystem{health: &d.health}.file(name, slowFile{})
			began := time.Now()
			for range 100 {
				if _, err := f.Write([]byte("row")); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took != want {
				t.Errorf("%s: %v; want %v", name, took, want)
			}
		})
	}
}
