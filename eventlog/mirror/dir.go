package mirror

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/disk"
)

// CopiedThrough returns, by partition, the offset up to which the copy in a directory is whole. Nobody may have it
// open; the source is not asked.
func CopiedThrough(o Options) (eventlog.Offsets, error) {
	s, copied, err := openStore(o)
	if err != nil {
		return nil, err
	}
	at := eventlog.Offsets{}
	for name, p := range copied.partitions {
		at[name] = p.Through
	}
	return at, s.close()
}

// SetAside gives the directory of a copy, which nobody may have open, another name beside it, and returns that: it may
// hold events that are nowhere else.
func SetAside(dir string) (aside string, err error) {
	aside = dir + ".former-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(dir, aside); err != nil {
		return "", fmt.Errorf("set the copy of the events aside: %w", err)
	}
	return aside, disk.SyncDir(filepath.Dir(dir))
}
