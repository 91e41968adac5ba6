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
	"regexp"
)

// ErrChanged is of a file that does not hold any more what was to be replaced.
var ErrChanged = errors.New("somebody has changed it meanwhile")

// Read reads a file that may be generated, with the ends of lines that are generated: git may have written others, as
// with core.autocrlf.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), err
}

// Before is called before each change of a file by this package, with the path: tests end the process there.
var Before = func(path string) {}

// WriteIfChanged writes a file, and makes its folder, unless it has the content already, whatever ends its lines.
// Whoever reads it meanwhile, or after an end in between, finds the one text or the other, whole.
func WriteIfChanged(path string, content []byte) error {
	if old, err := Read(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := put(path, content, func(string) error { return nil }); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Replace writes a file that holds what it was, nil where there is none, and fails with ErrChanged where it holds
// anything else. It is whole at any time, as with [WriteIfChanged].
func Replace(path string, was, content []byte) error {
	err := put(path, content, func(target string) error {
		now, err := os.ReadFile(target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if (err == nil) != (was != nil) || !bytes.Equal(now, was) {
			return ErrChanged
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// Move gives a file another name, whatever has that until then, and does nothing where there is none.
func Move(path, to string) error {
	Before(path)
	if err := os.Rename(path, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Inherit gives a file the mode and the owner of another one, where that is there, as far as this user may.
func Inherit(path, from string) error {
	is, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		keepOwner(f, is)
		err = errors.Join(f.Chmod(is.Mode()), f.Close())
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	Before(path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// put puts a file with a content in the place of the one that is there, if any, unless check finds that it may not.
func put(path string, content []byte, check func(target string) error) error {
	target, err := linked(path) // a link stays one
	if err != nil {
		return fmt.Errorf("find the file: %w", err)
	}
	next := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%016x.new", filepath.Base(target), rand.Uint64()))
	if err = writeBeside(target, next, content); err == nil {
		err = check(target)
	}
	if err == nil {
		Before(path)
		err = os.Rename(next, target)
		if errors.Is(err, fs.ErrNotExist) { // another process has swept it away
			return put(path, content, check)
		}
	}
	if err != nil {
		err = errors.Join(err, Remove(next))
	}
	return err
}

// left is a name that put gives.
var left = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.new$`)

// Sweep removes from folders, where they are there, what processes have left that ended while they wrote a file.
func Sweep(folders ...string) error {
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for what is left of former runs: %w", err)
		}
		for _, e := range entries {
			if !left.MatchString(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			if err := Remove(filepath.Join(folder, e.Name())); err != nil {
				return fmt.Errorf("remove what is left of a former run: %w", err)
			}
		}
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

// writeBeside writes the next content of a file, with the mode and the owner that the file has.
func writeBeside(path, next string, content []byte) error {
	is, err := inPlace(path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if is != nil {
		mode = is.Mode()
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && is != nil {
		keepOwner(f, is)
		err = f.Chmod(mode) // whatever mask the process has
	}
	return errors.Join(err, f.Close())
}

// inPlace is what is known of a file that is to be replaced, nil where there is none.
func inPlace(path string) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // what may not be written is not to be replaced either
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}
