// Package outfile writes what the generator generates to the disk, and reads it again.
package outfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ErrChanged is of a file that does not hold any more what was to be replaced.
var ErrChanged = errors.New("somebody has changed it meanwhile")

// Read reads a file that may be generated, with the ends of lines that are generated: git may have written others, as
// with core.autocrlf.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), err
}

// WriteIfChanged writes a file, and makes its folder, unless it has the content already, whatever ends its lines.
func WriteIfChanged(path string, content []byte) error {
	if old, err := Read(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Replace writes a file that holds what it was, nil where there is none, and fails with ErrChanged where it holds
// anything else. Whoever reads it meanwhile, or after an end in between, finds the one text or the other, whole.
func Replace(path string, was, content []byte) error {
	target, err := linked(path) // a link stays one
	if err != nil {
		return fmt.Errorf("find the file to replace: %w", err)
	}
	next := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%x.new", filepath.Base(target), rand.Uint64()))
	err = writeBeside(target, next, content)
	if err == nil {
		err = swap(target, next, was)
	}
	if err != nil {
		if left := os.Remove(next); left != nil && !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// linked is where a path leads to through links, also where no file is there yet.
func linked(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	dir, name := filepath.Split(path)
	if dir, err = filepath.EvalSymlinks(cmp.Or(dir, ".")); err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	to, err := os.Readlink(path)
	if err != nil { // it is no link
		return path, nil
	}
	if !filepath.IsAbs(to) {
		to = dir + string(filepath.Separator) + to // joined, a ".." behind a link would lead elsewhere
	}
	return linked(to)
}

// writeBeside writes the next content of a file, with the mode that the file has.
func writeBeside(path, next string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // what may not be written is not to be replaced either
	if errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(next, content, 0o644)
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(next, content, info.Mode()); err != nil {
		return err
	}
	return os.Chmod(next, info.Mode()) // whatever mask the process has
}

func swap(path, next string, was []byte) error {
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != (was != nil) || !bytes.Equal(now, was) {
		return ErrChanged
	}
	return os.Rename(next, path)
}
