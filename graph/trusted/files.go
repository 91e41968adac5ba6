package trusted

import (
	"crypto/sha256"
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

	mu     sync.Mutex // held by Reload
	seen   []stamp    // of the files that were read last
	sums   []sum      // of what was in them
	summed time.Time  // when it was
}

// stamp changes when a file is written anew, but where a tool gives all files that it makes the same time.
type stamp struct {
	modified time.Time
	size     int64
}

type sum = [sha256.Size]byte

// sumEvery is how often it is looked at what is in files whose stamps are the same.
const sumEvery = time.Minute

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

// Reload reads the manifests again, if any has been written anew, and reports whether. One whose size and time are
// those of before is found within a minute. Where that fails, the documents stay as they were, and the next call tries
// again.
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
		if same, err := f.sameSums(); same || err != nil {
			return false, err
		}
	}
	all, sums := &Documents{}, []sum(nil)
	for _, path := range f.paths {
		manifest, err := readBounded(path)
		if err == nil {
			err = all.Add(manifest)
		}
		if err != nil {
			return false, fmt.Errorf("read the trusted documents in %s: %w", path, err)
		}
		sums = append(sums, sha256.Sum256(manifest))
	}
	f.seen, f.sums, f.summed = stamps, sums, time.Now()
	f.current.Store(all)
	return true, nil
}

// sameSums reports whether the files have what was read, as far as it is time to look.
func (f *Files) sameSums() (bool, error) {
	if time.Since(f.summed) < sumEvery {
		return true, nil
	}
	for i, path := range f.paths {
		now, err := sumOf(path)
		if err != nil {
			return false, fmt.Errorf("look for changes of the trusted documents in %s: %w", path, err)
		}
		if now != f.sums[i] {
			return false, nil
		}
	}
	f.summed = time.Now()
	return true, nil
}

func sumOf(path string) (s sum, err error) {
	file, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	h := sha256.New()
	if _, err = io.Copy(h, io.LimitReader(file, mostBytes+1)); err != nil {
		return s, err
	}
	return sum(h.Sum(nil)), nil
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
