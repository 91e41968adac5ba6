package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestAReleaseIsCalledAsGoCallsAVersion: a tag of another name is none to the go command.
func TestAReleaseIsCalledAsGoCallsAVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "", "v0.1.0": "", "v1.2.3-rc.1": "", "1.2.3": "MAJOR", "v1.2": "MAJOR", "v1": "MAJOR", "v01.2.3": "MAJOR",
		"v1.2.3+linux": "MAJOR", "latest": "MAJOR", "v2.0.0": "path ends in it",
	} {
		err := checkVersion(version)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want an error that says %q", version, err, want)
		}
	}
}

// TestABinaryIsPublishedAsTheVersionThatItSays: where a commit has the tags of two, that is the higher one.
func TestABinaryIsPublishedAsTheVersionThatItSays(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/tool\n\ngo 1.26\n", "cmd/foldql/main.go": "package main\n\nfunc main() {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "-m", "first"}, {"tag", "v1.0.0"}, {"tag", "v1.1.0"},
	} {
		args = append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	lower := release{version: "v1.0.0", source: dir, dir: t.TempDir(), platforms: []platform{here}}
	if _, err := lower.publish(t.Context(), here, time.Unix(0, 0)); err == nil ||
		!strings.Contains(err.Error(), "says that it is v1.1.0") {
		t.Errorf("the archive of v1.0.0: %v", err)
	}
	if made, err := os.ReadDir(lower.dir); err != nil || len(made) > 0 {
		t.Errorf("there are %v, %v", made, err)
	}
	binary := filepath.Join(t.TempDir(), here.binary())
	higher := release{version: "v1.1.0", source: dir}
	if err := higher.build(t.Context(), here, binary); err != nil {
		t.Fatal(err)
	}
	if err := higher.says(binary); err != nil {
		t.Error(err)
	}
}
