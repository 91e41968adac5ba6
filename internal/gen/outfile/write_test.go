package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestAFileIsReplacedWholeOrNotAtAll: a text that somebody saved meanwhile stays, and so do the mode of the file and a
// link to it; nothing is left beside it.
func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "mine.go"), filepath.Join(dir, "link.go")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		was, content []byte
		err          error
		want         string
	}{
		{[]byte("saved"), []byte("one"), ErrChanged, ""},
		{nil, []byte("one"), nil, "one"},
		{nil, []byte("two"), ErrChanged, "one"},
		{[]byte("saved"), []byte("two"), ErrChanged, "one"},
		{[]byte("one"), []byte("two"), nil, "two"},
	} {
		if err := Replace(path, c.was, c.content); !errors.Is(err, c.err) {
			t.Errorf("%d: %v, want %v", i, err, c.err)
		}
		if got, err := os.ReadFile(path); string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%d: the file holds %q, %v, want %q", i, got, err, c.want)
		}
	}
	if err := os.Chmod(path, 0o620); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, []byte("two"), []byte("three")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o620 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestALinkStaysOneWhereItsFileIsNotThereYet, also one to a link, in a folder that is a link.
func TestALinkStaysOneWhereItsFileIsNotThereYet(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"deep": "a/b", "next.go": "deep/../new.go", "first.go": "next.go"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(filepath.Join(dir, "first.go"), nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a", "new.go")); err != nil || string(got) != "one" {
		t.Errorf("the file that the links lead to holds %q, %v", got, err)
	}
	for _, name := range []string{"next.go", "first.go"} {
		if to, err := os.Readlink(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
}

// TestWritersOfOneFileDoNotFailEachOther, nor does one that sweeps meanwhile: it may take what they write for left.
func TestWritersOfOneFileDoNotFailEachOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.go")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range 500 {
				text := []byte{byte('a' + i%7)}
				if err := errors.Join(WriteIfChanged(path, text), Sweep(dir)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
