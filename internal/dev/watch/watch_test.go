package watch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEveryWayInWhichFilesChangeIsTold: written, put in place of another, removed, and in folders that come and go.
func TestEveryWayInWhichFilesChangeIsTold(t *testing.T) {
	dir := t.TempDir()
	file, sub := filepath.Join(dir, "a.go"), filepath.Join(dir, "sub")
	write := func(path, text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o644) }
	}
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a file comes", write(file, "1")},
		{"it is written", write(file, "2")},
		{"a file comes beside it", write(file+".new", "3")},
		{"the file takes its place", func() error { return os.Rename(file+".new", file) }},
		{"it is written after that", write(file, "4")},
		{"a folder comes", func() error { return os.Mkdir(sub, 0o755) }},
		{"a file comes in the folder", write(filepath.Join(sub, "b.go"), "1")},
		{"the folder goes", func() error { return os.RemoveAll(sub) }},
		{"it comes again", func() error { return os.Mkdir(sub, 0o755) }},
		{"a file comes there again", write(filepath.Join(sub, "b.go"), "2")},
		{"a file goes", func() error { return os.Remove(file) }},
	} {
		folders := []string{dir}
		if _, err := os.Stat(sub); err == nil {
			folders = append(folders, sub)
		}
		if err := w.Follow(folders); err != nil {
			t.Fatal(err)
		}
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		t.Log(step.name)
		<-w.Changes() // the test hangs where none is told
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFoldersThatAreNotForThisUserAreNoError, such as the data of a database in the project.
func TestFoldersThatAreNotForThisUserAreNoError(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("everything is for this user")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Follow([]string{closed}); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFoldersThatAreNotThereAreNoError, and those that are not followed any more are left.
func TestFoldersThatAreNotThereAreNoError(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Follow([]string{dir, filepath.Join(dir, "none")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Follow([]string{other}); err != nil {
		t.Fatal(err)
	}
	if got := w.notify.WatchList(); len(got) != 1 || got[0] != other {
		t.Errorf("it watches %v", got)
	}
}
