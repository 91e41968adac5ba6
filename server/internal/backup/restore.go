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

	"github.com/foldql/foldql/internal/disk"
)

// Restore copies the backup in a directory into a data directory, which must have none of its parts. Each part has its
// name once all of the backup has been found to be whole and synced to disk. Where a restore of the data directory was
// killed, what that has put there is removed first.
func Restore(ctx context.Context, dir, data string) (*Manifest, error) {
	m, err := read(dir)
	if err != nil {
		return nil, err
	}
	if err := removeRestored(data); err != nil {
		return nil, fmt.Errorf("remove what a restore that did not end has left in %s: %w", data, err)
	}
	for _, part := range m.Parts {
		if err := free(filepath.Join(data, part)); err != nil {
			return nil, fmt.Errorf("restore the %s: %w", part, err)
		}
	}
	if err := makeDirs(data, disk.SyncDir); err != nil {
		return nil, err
	}
	r := restoration{m, dir, data, os.Rename}
	return m, r.run(ctx)
}

// restoration is a backup on its way to a data directory.
type restoration struct {
	*Manifest
	dir, data string
	rename    func(from, to string) error
}

func (r *restoration) run(ctx context.Context) (err error) {
	partial, err := scratch(r.data, restorePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	if err := r.copy(ctx, partial); err != nil {
		return err
	}
	mark := markOf(partial, r.Parts)
	if err := mark.write(r.data); err != nil {
		return err
	}
	if placed, err := r.place(partial); err != nil {
		if kept := r.takeBack(placed); kept != nil {
			return errors.Join(err, kept) // and the mark stays
		}
		return errors.Join(err, mark.remove(r.data))
	}
	return mark.remove(r.data)
}

// copy copies all files, and finds out whether they are those of the backup.
func (r *restoration) copy(ctx context.Context, partial string) error {
	var got []File
	for _, f := range r.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := copyFile(r.dir, partial, f.Name)
		if err != nil {
			return fmt.Errorf("copy the backup: %w", err)
		}
		got = append(got, one)
	}
	if err := compare(r.Files, got); err != nil {
		return fmt.Errorf("the backup in %s cannot be used: %w", r.dir, err)
	}
	return syncDirs(partial)
}

// order is that in which parts are put in place.
var order = []string{Log, Mirror, Rows}

// place gives the parts their names.
func (r *restoration) place(partial string) (placed []string, err error) {
	for _, part := range order {
		if !r.Has(part) {
			continue
		}
		if err := r.rename(filepath.Join(partial, part), filepath.Join(r.data, part)); err != nil {
			return placed, err
		}
		placed = append(placed, part)
	}
	return placed, disk.SyncDir(r.data)
}

// takeBack removes parts that were put in place.
func (r *restoration) takeBack(parts []string) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, os.RemoveAll(filepath.Join(r.data, part)))
	}
	return errors.Join(append(errs, disk.SyncDir(r.data))...)
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
