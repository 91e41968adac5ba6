package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/disk"
)

// restoring is a file in a data directory from before a restore copies anything there until all of it is in place, also
// where the restore has failed. A server that found nothing yet would begin anew, and give offsets to events that the
// backup has for others. One that found the log without the rows would fold it without what was decided about dead
// letters, and make another secret of page tokens.
const restoring = "RESTORING"

// mark is the content of that file: a line that is the restore's own, and one for each part that it may have put in
// place. While it copies, it has put none there: a part that is there then is somebody else's.
type mark []byte

func markOf(partial string, parts []string) mark {
	return mark(strings.Join(append([]string{filepath.Base(partial)}, parts...), "\n") + "\n")
}

// write writes the file, unless another restore has. Where that fails it leaves none: nothing was put in place that it
// would be about. It has no secret, and others than who restores are to read what it says.
func (m mark) write(dir string) error {
	path := filepath.Join(dir, restoring)
	if err := writeWhole(path, bytes.NewReader(m)); err != nil {
		return err
	}
	_ = os.Chmod(path, 0o644) // a file system may refuse that, and the restore needs no other reader
	return nil
}

// writeWhole writes a file that is not there yet, and syncs it to disk with its name. Where that fails it removes the
// file, but not one that was there.
func writeWhole(path string, r io.Reader) error {
	_, err := writeFile(path, r)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	if left := os.Remove(path); !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return err
}

// check fails where another restore has taken the directory over.
func (m mark) check(data string) error {
	found, err := os.ReadFile(filepath.Join(data, restoring))
	if err == nil && !bytes.Equal(found, m) {
		err = errors.New("another restore has begun there")
	}
	if err != nil {
		return fmt.Errorf("go on with the restore of %s: %w", data, err)
	}
	return nil
}

// remove removes the file, if this restore has written one.
func (m mark) remove(data string) error {
	if m == nil {
		return nil
	}
	if err := m.check(data); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(data, restoring)); err != nil {
		return fmt.Errorf("end the restore of %s: %w", data, err)
	}
	return disk.SyncDir(data)
}

// removeRestored removes what a restore has put into a data directory without coming to its end, and returns the mark
// of that restore, which stays; nil where there was none.
func removeRestored(data string) (mark, error) {
	text, err := os.ReadFile(filepath.Join(data, restoring))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for part := range strings.Lines(string(text)) {
		if part = strings.TrimSuffix(part, "\n"); !slices.Contains(order, part) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(data, part)); err != nil {
			return nil, err
		}
	}
	return mark(text), disk.SyncDir(data)
}

// CheckRestored fails where a restore of the data directory has not come to its end. A directory that cannot be looked
// at is left to the store that is in it.
func CheckRestored(data string) error {
	advice := wayOn(data) // before it is looked whether the restore has come to its end
	if _, err := os.Lstat(filepath.Join(data, restoring)); err != nil {
		return nil
	}
	if advice == "" { // it has begun meanwhile
		if advice = wayOn(data); advice == "" {
			return nil
		}
	}
	return fmt.Errorf("%s has the file %s: 'server restore' has not put all of a backup there; if it does not run any "+
		"more, %s", data, restoring, advice)
}

// wayOn says what to do with a data directory in which a restore has not come to its end, and nothing of another.
func wayOn(data string) string {
	path := filepath.Join(data, restoring)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("repeat it as a user who may read %s, which tells what it has left (%v)", path, err)
	case err != nil:
		return fmt.Sprintf("restore into another directory, as %s cannot be read, which tells what it has left (%v)", path,
			err)
	}
	return "repeat it, with another backup if that one cannot be used; or, to begin without one, remove " +
		strings.Join(append(leftovers(data, string(text)), path), ", then ")
}

// leftovers are what a restore that did not end has left beside its mark, which has the text. They go first: without
// the mark, a server would take a part of a backup for all that there was.
func leftovers(data, text string) (paths []string) {
	for _, part := range order {
		_, err := os.Lstat(filepath.Join(data, part))
		if err == nil && slices.Contains(strings.Split(text, "\n"), part) {
			paths = append(paths, filepath.Join(data, part))
		}
	}
	found, _ := os.ReadDir(data)
	for _, entry := range found {
		if isLeft(data, entry, restorePrefix) {
			paths = append(paths, filepath.Join(data, entry.Name()))
		}
	}
	return paths
}
