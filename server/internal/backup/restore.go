package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Restore copies the backup in a directory into a data directory, which must have none of its parts. Each part has its
// name once all of the backup has been found to be whole and synced to disk, the log first: rows without their log
// would be taken for those of another.
func Restore(ctx context.Context, dir, data string) (m *Manifest, err error) {
	if m, err = read(dir); err != nil {
		return nil, err
	}
	for _, part := range m.Parts {
		if err := free(filepath.Join(data, part)); err != nil {
			return nil, fmt.Errorf("restore the %s: %w", part, err)
		}
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	partial, err := os.MkdirTemp(data, ".restore-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	var got []File
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, err := copyFile(dir, partial, f.Name)
		if err != nil {
			return nil, fmt.Errorf("copy the backup: %w", err)
		}
		got = append(got, one)
	}
	if err := compare(m.Files, got); err != nil {
		return nil, fmt.Errorf("the backup in %s cannot be used: %w", dir, err)
	}
	if err := syncDirs(partial); err != nil {
		return nil, err
	}
	for _, part := range []string{Log, Mirror, Rows} {
		if !m.Has(part) {
			continue
		}
		if err := os.Rename(filepath.Join(partial, part), filepath.Join(data, part)); err != nil {
			return nil, err
		}
	}
	return m, syncDir(data)
}

func copyFile(from, to, name string) (f File, err error) {
	in, err := os.Open(filepath.Join(from, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	path := filepath.Join(to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return File{}, err
	}
	sum := sha256.New()
	n, err := writeFile(path, io.TeeReader(in, sum))
	return File{name, n, hex.EncodeToString(sum.Sum(nil))}, err
}
