package mirror

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// asideInfix stands between the name of a directory and the time when it was set aside.
const asideInfix = ".former-"

// IsSetAside reports whether the copy in a directory was set aside, and none has taken its place.
func IsSetAside(dir string) bool {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	beside, err := os.ReadDir(filepath.Dir(dir))
	return err == nil && slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), filepath.Base(dir)+asideInfix)
	})
}

// SetAside gives the directory of a copy, which nobody may have open, another name beside it, and returns that: it may
// hold events that are nowhere else.
func SetAside(dir string) (aside string, err error) {
	aside = dir + asideInfix + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(dir, aside); err != nil {
		return "", fmt.Errorf("set the copy of the events aside: %w", err)
	}
	return aside, disk.SyncDir(filepath.Dir(dir))
}
