package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foldql/foldql/internal/disk"
)

// mostManifest is more than a manifest has: Pebble keeps some thousands of files in a store of a terabyte.
const mostManifest = 64 << 20

// Receive writes the backup that a tar stream holds into a directory, which must not exist, and is in no store and no
// other backup. The directory has its name once all of the backup is there and synced to disk.
func Receive(r io.Reader, dir string) (m *Manifest, err error) {
	dir = filepath.Clean(dir)
	if err := fresh(dir); err != nil {
		return nil, err
	}
	if err := makeDirs(filepath.Dir(dir), disk.SyncDir); err != nil {
		return nil, err
	}
	above, err := scratch(filepath.Dir(dir), partialPrefix(dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(above)) }()
	partial := filepath.Join(above, filepath.Base(dir))
	if err := os.Mkdir(partial, 0o700); err != nil {
		return nil, err
	}
	if m, err = receive(tar.NewReader(r), partial); err != nil {
		return nil, fmt.Errorf("receive the backup: %w", err)
	}
	if err := syncDirs(partial); err != nil {
		return nil, err
	}
	if err := os.Rename(partial, dir); err != nil {
		return nil, err
	}
	return m, disk.SyncDir(filepath.Dir(dir))
}

// free fails where the directory exists.
func free(dir string) error {
	_, err := os.Lstat(dir)
	switch {
	case err == nil:
		return fmt.Errorf("%s exists: name a directory that does not, or remove it", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// receive writes the files of the stream, and compares them with the manifest behind them.
func receive(in *tar.Reader, dir string) (*Manifest, error) {
	var got []File
	for {
		h, err := in.Next()
		switch {
		case err == io.EOF:
			return nil, errors.New("it ends before its last file: the server gave it up; its log says why")
		case err != nil:
			return nil, err
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)):
			return nil, fmt.Errorf("it has the entry %.100q, which is no file of a backup", h.Name)
		case h.Name == manifestName:
			return finish(in, dir, got)
		}
		f, err := writeSummed(dir, h.Name, in)
		if err != nil {
			return nil, err
		}
		got = append(got, f)
	}
}

// writeSummed writes a file of a backup into a directory.
func writeSummed(dir, name string, r io.Reader) (File, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return File{}, err
	}
	sum := sha256.New()
	n, err := writeFile(path, io.TeeReader(r, sum))
	return File{name, n, hex.EncodeToString(sum.Sum(nil))}, err
}

// writeFile writes a file that is not there yet, and syncs it to disk.
func writeFile(path string, r io.Reader) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return n, errors.Join(err, f.Close())
}

// finish reads the manifest, and writes it where it is of the files that have come.
func finish(in *tar.Reader, dir string, got []File) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(in, mostManifest))
	if err != nil {
		return nil, err
	}
	m, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := compare(m.Files, got); err != nil {
		return nil, err
	}
	_, err = writeFile(filepath.Join(dir, manifestName), bytes.NewReader(text))
	return m, err
}

// compare fails unless the files are those of the manifest.
func compare(want, got []File) error {
	wanted := map[string]File{}
	for _, f := range want {
		wanted[f.Name] = f
	}
	for _, f := range got {
		w, ok := wanted[f.Name]
		switch {
		case !ok:
			return fmt.Errorf("%s is not in %s", f.Name, manifestName)
		case w != f:
			return fmt.Errorf("%s is damaged: it has %d bytes with the SHA-256 %s, and %s says %d and %s", f.Name, f.Size,
				f.SHA256, manifestName, w.Size, w.SHA256)
		}
		delete(wanted, f.Name)
	}
	for name := range wanted {
		return fmt.Errorf("%s is missing", name)
	}
	return nil
}

// makeDirs makes a directory and those above it that are missing, and has sync make each of their names last.
func makeDirs(dir string, sync func(dir string) error) error {
	above := filepath.Dir(dir)
	if _, err := os.Stat(dir); err == nil || above == dir {
		return err
	}
	if err := makeDirs(above, sync); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return sync(above)
}

// syncDirs syncs a directory and all below it, so that the files in them have their names after a power cut too.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return disk.SyncDir(path)
	})
}
