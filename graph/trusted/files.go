package trusted

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files are the documents of manifests in files, which may change.
type Files struct {
	paths   []string
	current atomic.Pointer[Documents]

	mu   sync.Mutex // held by Reload
	seen []stamp    // of the files that were read last
}

// stamp changes when a file is written anew.
type stamp struct {
	modified time.Time
	size     int64
}

// mostBytes is how large a manifest may be.
const mostBytes = 64 << 20

// Open reads the manifests in files; without any there are no documents.
func Open(paths []string) (*Files, error) {
	f := &Files{paths: paths}
	f.current.Store(&Documents{})
	if _, err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// Documents are those that were read last. They do not change.
func (f *Files) Documents() *Documents { return f.current.Load() }

// Reload reads the manifests again, if any has been written anew, and reports whether. Where that fails, the documents
// stay as they were, and the next call tries again.
func (f *Files) Reload() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stamps := make([]stamp, len(f.paths))
	for i, path := range f.paths {
		info, err := os.Stat(path)
		if err != nil {
			return false, fmt.Errorf("look for trusted documents: %w", err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if slices.Equal(stamps, f.seen) {
		return false, nil
	}
	all := &Documents{}
	for _, path := range f.paths {
		manifest, err := readBounded(path)
		if err == nil {
			err = all.Add(manifest)
		}
		if err != nil {
			return false, fmt.Errorf("read the trusted documents in %s: %w", path, err)
		}
	}
	f.seen = stamps
	f.current.Store(all)
	return true, nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	manifest, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err == nil && len(manifest) > mostBytes {
		err = fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	return manifest, err
}
