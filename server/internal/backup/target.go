package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// apart fails where a directory that is to be written is a store or a backup, or is in one: whoever removes that, or
// puts another in its place, takes what is in it along, and a store may remove files that it does not know.
func apart(dir string) error {
	real, err := resolve(dir)
	if err != nil {
		return err
	}
	for at, what := real, ""; ; at = filepath.Dir(at) {
		if what = kind(at); what != "" && at == real {
			return fmt.Errorf("%s is %s: name a directory outside of it", dir, what)
		}
		if what != "" {
			return fmt.Errorf("%s is in %s, which is %s: name a directory outside of it", dir, at, what)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// fresh fails unless a backup can get the name: nothing has it, it is apart, and no server would open the backup as a
// part of a data directory.
func fresh(dir string) error {
	if err := free(dir); err != nil {
		return err
	}
	if err := apart(dir); err != nil {
		return err
	}
	real, err := resolve(dir)
	if err != nil {
		return err
	}
	data, name := filepath.Split(real)
	if !slices.Contains(order, name) {
		return nil
	}
	beside := func(part string) bool { return isStore(filepath.Join(data, part)) }
	if CheckRestored(data) != nil || slices.ContainsFunc(order, beside) {
		return fmt.Errorf("%s is where a server looks for the %s of the data directory %s: give the backup another name",
			dir, name, filepath.Clean(data))
	}
	return nil
}

// resolve is where a directory is, or will be once it is made. Where the links on the way cannot be followed, it is the
// directory as it is named: that it is apart is no reason to refuse what can be written.
func resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for above, below := dir, ""; ; {
		real, err := filepath.EvalSymlinks(above)
		if err == nil {
			return filepath.Join(real, below), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || above == filepath.Dir(above) {
			return dir, nil
		}
		above, below = filepath.Dir(above), filepath.Join(filepath.Base(above), below)
	}
}

// kind says whether a directory is a store or a backup; "" where it is neither.
func kind(dir string) string {
	if isStore(dir) {
		return "a store"
	}
	if isBackup(dir) {
		return "a backup"
	}
	return ""
}

// isBackup reports whether a directory is a backup, and not a data directory that was copied from one by hand: whoever
// opens a store leaves a LOCK in it.
func isBackup(dir string) bool {
	if at, err := os.Lstat(filepath.Join(dir, manifestName)); err != nil || !at.Mode().IsRegular() {
		return false
	}
	m, err := read(dir)
	return err == nil && !slices.ContainsFunc(m.Parts, func(part string) bool { return isStore(filepath.Join(dir, part)) })
}

// isStore reports whether a directory has the files that each store has.
func isStore(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "LOCK")); err != nil {
		return false
	}
	found, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(found, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "marker.manifest.")
	})
}
