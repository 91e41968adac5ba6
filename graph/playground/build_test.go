package playground

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheCommittedFilesAreWhatTheLockfileBuilds: build.sh, run again by npm, makes the files that are committed. What
// compressed them may differ from machine to machine, so their contents are compared.
func TestTheCommittedFilesAreWhatTheLockfileBuilds(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Fatalf("GraphiQL is built by npm: install Node.js, version 20 or later (%v)", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"build.sh", "package.json", "package-lock.json", ".npmrc", "bundle.js"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(filepath.Join(dir, "build.sh")).CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	built, committed := contents(t, filepath.Join(dir, "assets")), contents(t, "assets")
	if len(built) != len(styles)+len(scripts)+len(workers)+1 { // the licences
		t.Errorf("build.sh makes %d files", len(built))
	}
	if diff := cmp.Diff(built, committed); diff != "" {
		t.Errorf("the committed files are others (make playground): - built, + committed\n%s", diff)
	}
}

// contents are the hashes of the uncompressed files of a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		packed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = fmt.Sprintf("%x", sha256.Sum256(unpack(t, packed)))
	}
	return all
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
