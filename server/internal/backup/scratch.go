package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files on their way lie in a directory beside what they are of: neither links nor renames lead to another disk. It
// does not outlive the backup or the restore, unless the process ends amid it.

// marker is a file that tells such a directory from one of the same name that somebody else has made.
const marker = "FOLDQL-BACKUP"

// The prefixes of the names of such directories.
const restorePrefix = ".restore-"

func copyPrefix(store string) string  { return "." + filepath.Base(store) + ".backup-" }
func partialPrefix(dir string) string { return "." + filepath.Base(dir) + ".partial-" }

// scratch makes such a directory, and removes what others of that prefix have left. No other process works on the same
// store, backup or data directory meanwhile; one that does finds its files gone, and fails.
func scratch(beside, prefix string) (dir string, err error) {
	if err := removeLeft(beside, prefix); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(beside, prefix+"*"); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// removeLeft removes what processes have left that ended amid a backup or a restore.
func removeLeft(beside, prefix string) error {
	found, err := os.ReadDir(beside)
	if err != nil {
		return err
	}
	for _, entry := range found {
		dir := filepath.Join(beside, entry.Name())
		if !isLeft(beside, entry, prefix) {
			if entry.IsDir() && strings.HasPrefix(entry.Name(), prefix) {
				_ = os.Remove(dir) // one that is empty: the process ended before the marker was there
			}
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s, which a process has left that was killed: %w", dir, err)
		}
	}
	return nil
}

// isLeft reports whether a process has made the directory, and not somebody else.
func isLeft(beside string, entry fs.DirEntry, prefix string) bool {
	_, err := os.Lstat(filepath.Join(beside, entry.Name(), marker))
	return err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), prefix)
}
