package events

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/server/internal/config"
)

// writeFile has a file written, gzipped where its name ends in .gz. The file has its name once all of it is on disk,
// and replaces none.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if err := checkFile(path); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-*")
	if err != nil {
		return err
	}
	defer func() {
		if left := os.Remove(partial.Name()); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}()
	if err := errors.Join(fill(partial, strings.HasSuffix(path, ".gz"), write), partial.Close()); err != nil {
		return err
	}
	if err := publish(partial.Name(), path, os.Link); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

func checkFile(path string) error {
	if !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl") {
		return config.Wrong("file", "name it NAME.jsonl.gz or NAME.jsonl, or - for standard output")
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return taken(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

func taken(path string) error { return fmt.Errorf("%s exists: name another file, or remove it", path) }

// publish gives a file its name, unless another one has got that meanwhile. A link replaces nothing; where the file
// system has none, the name is taken first.
func publish(partial, path string, link func(from, to string) error) error {
	err := link(partial, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = replaceOwn(partial, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	return err
}

// replaceOwn renames a file to the name of an empty one, which it makes.
func replaceOwn(partial, path string) error {
	empty, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(empty.Close(), os.Rename(partial, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// fill writes all of a file, and syncs it to disk.
func fill(f *os.File, packed bool, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(f, 64<<10)
	var to io.Writer = out
	finish := out.Flush
	if packed {
		z := gzip.NewWriter(out)
		to, finish = z, func() error { return errors.Join(z.Close(), out.Flush()) }
	}
	if err := write(to); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	return f.Sync()
}
