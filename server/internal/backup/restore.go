package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/foldql/foldql/internal/disk"
)

// Restore copies the backup in a directory into a data directory, which must have none of its parts. Each part has its
// name once all of the backup has been found to be whole and synced to disk. Where a restore of the data directory was
// killed, what that has put there is removed first, and nobody opens the directory until a restore succeeds.
func Restore(ctx context.Context, dir, data string) (*Manifest, error) {
	m, err := read(dir)
	if err != nil {
		return nil, err
	}
	former, err := removeRestored(data)
	if err != nil {
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
	r := restoration{m, dir, data, os.Rename, former}
	return m, r.run(ctx)
}

// restoration is a backup on its way to a data directory.
type restoration struct {
	*Manifest
	dir, data string
	rename    func(from, to string) error
	mark      mark // that the data directory has, nil for none
}

func (r *restoration) run(ctx context.Context) error {
	partial, err := scratch(r.data, restorePrefix)
	if err != nil {
		return err
	}
	over, err := r.restore(ctx, partial)
	err = errors.Join(err, os.RemoveAll(partial))
	if over {
		err = errors.Join(err, r.mark.remove(r.data))
	}
	return err
}

// restore reports whether the mark is to go: all of the backup is there, or the directory is as it was without one.
func (r *restoration) restore(ctx context.Context, partial string) (over bool, err error) {
	unmarked := r.mark == nil
	if err := r.setMark(markOf(partial, nil), partial); err != nil {
		return unmarked, err
	}
	if err := r.copy(ctx, partial); err != nil {
		return unmarked, err
	}
	if err := r.setMark(markOf(partial, r.Parts), partial); err != nil {
		return unmarked, err
	}
	placed, err := r.place(partial)
	if err == nil {
		return true, nil
	}
	kept := r.takeBack(placed)
	return unmarked && kept == nil, errors.Join(err, kept)
}

// setMark gives the data directory its first mark, or another in place of the one that it has.
func (r *restoration) setMark(next mark, partial string) error {
	if r.mark == nil {
		if err := next.write(r.data); err != nil {
			return err
		}
		r.mark = next
		return nil
	}
	if err := r.mark.check(r.data); err != nil {
		return err
	}
	if err := next.write(partial); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(partial, restoring), filepath.Join(r.data, restoring)); err != nil {
		return err
	}
	r.mark = next
	return disk.SyncDir(r.data)
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
	return writeSummed(to, name, in)
}
