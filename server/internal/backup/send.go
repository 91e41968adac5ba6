package backup

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/foldql/foldql/internal/disk"
)

// Store is something that can be copied while it is in use.
type Store interface {
	// Snapshot writes a copy of the store as it is now into a directory, which it makes. Nothing that is synced is
	// missing in the copy.
	Snapshot(dir string) error
}

// Part is a store that is part of a backup.
type Part struct {
	Name  string // Rows, Log or Mirror
	Store Store
	Dir   string // of the store; a copy is first made beside it, of links to its files
}

// Sender makes backups, one at a time.
type Sender struct {
	Parts []Part // in the order in which they are copied: the rows before the log
	// WhyNone is why there are no parts; ErrNothing by default.
	WhyNone error

	busy sync.Mutex
}

// Errors of Send.
var (
	ErrBusy    = errors.New("another backup is being made")
	ErrNothing = errors.New("neither the rows nor the log are kept on this machine")
	// ErrEmbedded says that the program which embeds the server has opened the stores, and knows where they are.
	ErrEmbedded = errors.New("the program that embeds the server backs up the rows and the log")
)

// HasBoth reports whether rows and events are among the parts: the log, or a copy of another source.
func (s *Sender) HasBoth() bool {
	isRows := func(p Part) bool { return p.Name == Rows }
	rows := slices.ContainsFunc(s.Parts, isRows)
	return rows && slices.ContainsFunc(s.Parts, func(p Part) bool { return !isRows(p) })
}

// Snapshot copies all parts as they are now. The caller sends the copy, and removes it. Where the disk takes no copy
// the error is a *disk.Fault. The end of the context ends it, at the next file of the copy.
func (s *Sender) Snapshot(ctx context.Context) (*Snapshot, error) {
	if len(s.Parts) == 0 {
		return nil, cmp.Or(s.WhyNone, ErrNothing)
	}
	if !s.busy.TryLock() {
		return nil, ErrBusy
	}
	taken := &Snapshot{done: s.busy.Unlock, manifest: Manifest{Format: format}}
	for _, p := range s.Parts {
		if err := unwritable(p.Dir, taken.add(ctx, p)); err != nil {
			return nil, errors.Join(fmt.Errorf("copy the %s: %w", p.Name, err), taken.Remove())
		}
	}
	taken.manifest.Taken = time.Now().UTC()
	return taken, nil
}

// Snapshot is a copy of all parts, on the disks that they are on.
type Snapshot struct {
	manifest Manifest
	dirs     []string // of the parts of the manifest
	done     func()
}

// RemoveLeft removes copies of the stores that processes have left which ended amid a backup, or amid a restore that
// nobody repeats. No other process has the stores open, and no restore has marked the data directory.
func (s *Sender) RemoveLeft() error {
	var errs []error
	for _, p := range s.Parts {
		data := filepath.Dir(p.Dir)
		errs = append(errs, removeLeft(data, copyPrefix(p.Dir)), removeLeft(data, restorePrefix))
	}
	return errors.Join(errs...)
}

func (t *Snapshot) add(ctx context.Context, p Part) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := scratch(filepath.Dir(p.Dir), copyPrefix(p.Dir))
	if err != nil {
		return err
	}
	t.manifest.Parts, t.dirs = append(t.manifest.Parts, p.Name), append(t.dirs, dir)
	moved := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(moved)
		_ = os.Rename(dir, dir+givenUp) // else it is copied whole
	})
	err = p.Store.Snapshot(filepath.Join(dir, p.Name))
	if !stop() {
		<-moved
		return context.Cause(ctx)
	}
	return err
}

// givenUp ends the name of a copy that nobody wants any more: a store fails that copies to where it was. Where files
// cannot be linked, because the directory of the store is on a disk of its own, it would copy for long.
const givenUp = "-given-up"

// unwritable is a failure of the file system below a store as one of the disk, which says what to do.
func unwritable(store string, err error) error {
	var fault *disk.Fault
	var no syscall.Errno
	if errors.As(err, &fault) || !errors.As(err, &no) {
		return err
	}
	return &disk.Fault{Dir: filepath.Dir(store), Err: err}
}

// Remove removes the copy, and lets another backup be made.
func (t *Snapshot) Remove() error {
	defer t.done()
	var errs []error
	for _, dir := range t.dirs {
		errs = append(errs, os.RemoveAll(dir), os.RemoveAll(dir+givenUp))
	}
	return errors.Join(errs...)
}

// Send writes the copy as a tar stream, with the manifest in the end.
func (t *Snapshot) Send(ctx context.Context, w io.Writer) error {
	out := tar.NewWriter(w)
	for i, part := range t.manifest.Parts {
		if err := t.sendPart(ctx, out, filepath.Join(t.dirs[i], part), part); err != nil {
			return fmt.Errorf("send the %s: %w", part, err)
		}
	}
	text, err := json.MarshalIndent(t.manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := t.header(out, manifestName, int64(len(text))); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	return out.Close()
}

// tableExt is how the names of tables end: the files of a store that go from one backup to the next.
const tableExt = ".sst"

func (t *Snapshot) sendPart(ctx context.Context, out *tar.Writer, dir, part string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return t.sendFile(out, path, part, filepath.ToSlash(rel))
	})
}

// sendFile sends a file that is not damaged: a backup that has the damage too would take the place of a good one.
func (t *Snapshot) sendFile(out *tar.Writer, path, part, rel string) (err error) {
	name := part + "/" + rel
	if filepath.Ext(name) == tableExt {
		switch err := disk.CheckTable(path); {
		case errors.Is(err, disk.ErrDamaged):
			return fmt.Errorf("%s is damaged, and so would the backup be; stop the server, and %s: %w", name,
				repairOf(part), err)
		case err != nil:
			return fmt.Errorf("check %s: %w", name, err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.header(out, name, info.Size()); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), f); err != nil {
		return err
	}
	t.manifest.Files = append(t.manifest.Files, File{name, info.Size(), hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// repairOf says what to do about a part that is damaged.
func repairOf(part string) string {
	switch part {
	case Rows:
		return "restore them from a backup, or move their directory away, to have them rebuilt from the events"
	case Mirror:
		return "restore it from a backup"
	}
	return "restore log and rows from one backup"
}

func (t *Snapshot) header(out *tar.Writer, name string, size int64) error {
	return out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: t.manifest.Taken, Format: tar.FormatPAX})
}
