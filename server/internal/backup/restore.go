package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/foldql/foldql/internal/disk"
)

// Restore copies the backup in a directory into a data directory, which must have none of its parts, and is in no store
// and no backup. Each part has its name once all of the backup has been found to be whole, synced to disk, and passed
// verify. That is given a data directory with the copy, in which it may open what is there; nil verifies nothing. From
// its first file on, nobody opens the data directory until a restore succeeds. What one that did not succeed has put
// there is removed first.
func Restore(ctx context.Context, dir, data string, verify func(m *Manifest, copied string) error) (*Manifest, error) {
	m, err := read(dir)
	if err = errors.Join(err, apart(data)); err != nil {
		return nil, err
	}
	former, err := removeRestored(data)
	if err != nil {
		return nil, fmt.Errorf("remove what a restore that did not end has left in %s: %w; %s", data, err, wayOn(data))
	}
	r := restoration{Manifest: m, dir: dir, data: data, verify: verify, rename: os.Rename, mark: former}
	for _, part := range m.Parts {
		if err := free(filepath.Join(data, part)); err != nil {
			return nil, r.refused(fmt.Errorf("restore the %s: %w", part, err))
		}
	}
	if err := makeDirs(data, disk.SyncDir); err != nil {
		return nil, err
	}
	return m, r.run(ctx)
}

// restoration is a backup on its way to a data directory.
type restoration struct {
	*Manifest
	dir, data string
	verify    func(m *Manifest, copied string) error // the copy; nil for not at all
	rename    func(from, to string) error
	mark      mark // that the data directory has, nil for none
}

func (r *restoration) run(ctx context.Context) error {
	partial, err := scratch(r.data, restorePrefix)
	if err != nil {
		return err
	}
	err = r.restore(ctx, partial)
	left := os.RemoveAll(partial)
	if err != nil {
		return errors.Join(r.refused(err), left)
	}
	return errors.Join(left, r.mark.remove(r.data))
}

// refused is why the restore failed. Its mark stays: what begins as an empty directory gives events the offsets of
// those in the backup.
func (r *restoration) refused(err error) error {
	if r.mark.check(r.data) != nil { // it has none
		return err
	}
	return fmt.Errorf("%w; no server or command opens %s until a restore into it succeeds: %s", err, r.data,
		wayOn(r.data))
}

// errInterrupted is why a restore ends whose context does: that it was interrupted is not all that there is to say.
var errInterrupted = errors.New("interrupted")

func (r *restoration) restore(ctx context.Context, partial string) error {
	if err := r.setMark(markOf(partial, nil), partial); err != nil {
		return err
	}
	if err := r.copy(ctx, partial); err != nil {
		return err
	}
	if err := r.verified(ctx, partial); err != nil {
		return err
	}
	if err := r.setMark(markOf(partial, r.Parts), partial); err != nil {
		return err
	}
	placed, err := r.place(partial)
	if err == nil {
		return nil
	}
	if taken := r.takeBack(placed); taken != nil {
		return errors.Join(err, taken)
	}
	return errors.Join(err, r.setMark(markOf(partial, nil), partial)) // what is there now is somebody else's
}

// verified has the copy verified.
func (r *restoration) verified(ctx context.Context, partial string) error {
	if r.verify == nil {
		return nil
	}
	err := r.verify(r.Manifest, partial)
	if err != nil && ctx.Err() != nil {
		return errInterrupted
	}
	return r.unusable(err)
}

// unusable is what is wrong with the backup; nil where nothing is.
func (r *restoration) unusable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the backup in %s cannot be used: %w", r.dir, err)
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
		if ctx.Err() != nil {
			return errInterrupted
		}
		one, err := copyFile(r.dir, partial, f.Name)
		if err != nil {
			return fmt.Errorf("copy the backup: %w", err)
		}
		got = append(got, one)
	}
	if err := r.unusable(compare(r.Files, got)); err != nil {
		return err
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
