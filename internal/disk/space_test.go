package disk

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestDirectoriesShareSpaceUnlessTheirDisksDiffer, or nobody can tell.
func TestDirectoriesShareSpaceUnlessTheirDisksDiffer(t *testing.T) {
	here := t.TempDir()
	for _, other := range []string{t.TempDir(), filepath.Join(here, "missing")} {
		if !MayShareSpace(here, other) {
			t.Errorf("%s and %s are on different disks", here, other)
		}
	}
	if runtime.GOOS == "linux" && MayShareSpace(here, "/proc") { // has no space at all
		t.Errorf("%s is on the disk of /proc", here)
	}
}
