package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestAReleaseIsTheSameWhereverItIsMade: static, with a list of its modules and its checksums. It is made of two
// clones, at a tag of their own.
func TestAReleaseIsTheSameWhereverItIsMade(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("compiles the command twice, and looks at the binary of this platform")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	const version = "v1.987.0"
	here := platform{runtime.GOOS, runtime.GOARCH}
	var archives, lists [2][]byte
	for i := range archives {
		r := release{version: version, source: clone(t, version), dir: filepath.Join(t.TempDir(), "dist"),
			platforms: []platform{here}}
		makeByCommand(t, r)
		archives[i], lists[i] = read(t, r, here.name(version)+".tar.gz"), read(t, r, here.name(version)+".cdx.json")
		if i == 0 {
			checkSums(t, r)
			checkList(t, r, here)
			checkBinary(t, archives[i])
		}
	}
	if !bytes.Equal(archives[0], archives[1]) || !bytes.Equal(lists[0], lists[1]) {
		t.Error("two releases of one version differ")
	}
}

// makeByCommand makes it as a maintainer does, for its one platform. The command is without the race detector, with
// which it takes half a minute to compress an archive.
func makeByCommand(t *testing.T, r release) {
	t.Helper()
	p := r.platforms[0]
	c := exec.CommandContext(t.Context(), "go", "run", "./internal/release", "-version", r.version, "-dir", r.dir,
		"-platform", p.os+"/"+p.arch)
	c.Dir = r.source
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make the release: %v\n%s", err, out)
	}
}

// clone is a checkout of the present commit, with a tag. What is not committed is not in it.
func clone(t *testing.T, tag string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "checkout")
	for _, args := range [][]string{
		{"clone", "--quiet", "--no-local", "--depth", "1", "file://" + repository(t), dir},
		{"-C", dir, "tag", tag},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func repository(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("this is no checkout of git")
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, r release, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func checkSums(t *testing.T, r release) {
	t.Helper()
	sums := strings.TrimSpace(string(read(t, r, "SHA256SUMS")))
	for line := range strings.SplitSeq(sums, "\n") {
		sum, name, _ := strings.Cut(line, "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, r, name))); got != sum {
			t.Errorf("%s has the checksum %s, not %s", name, got, sum)
		}
	}
	if n := strings.Count(sums, "\n") + 1; n != 2 {
		t.Errorf("%d files have checksums; want the archive and the list:\n%s", n, sums)
	}
}

// checkList wants the modules of the command in the list, and its version.
func checkList(t *testing.T, r release, p platform) {
	t.Helper()
	var list struct {
		Metadata struct {
			Component struct{ Version string }
			Tools     any
		}
		Components []struct{ Name string }
	}
	if err := json.Unmarshal(read(t, r, p.name(r.version)+".cdx.json"), &list); err != nil {
		t.Fatal(err)
	}
	if list.Metadata.Tools != nil {
		t.Errorf("the list names the program that made it, which differs between machines: %v", list.Metadata.Tools)
	}
	names := map[string]bool{}
	for _, c := range list.Components {
		names[c.Name] = true
	}
	if list.Metadata.Component.Version != r.version || !names["github.com/vektah/gqlparser/v2"] || !names["std"] {
		t.Errorf("the list is of version %q and has %v", list.Metadata.Component.Version, names)
	}
}

// checkBinary wants a binary in the archive that needs no library, and knows its version.
func checkBinary(t *testing.T, archive []byte) {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	path, names := filepath.Join(t.TempDir(), "foldql"), ""
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names += header.Name + " "
		if header.Name != "foldql" {
			continue
		}
		content, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(path, content, header.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if names != "foldql LICENSE README.md " {
		t.Errorf("the archive has %s", names)
	}
	binary, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = binary.Close() }()
	if libraries, err := binary.ImportedLibraries(); len(libraries) > 0 || err != nil {
		t.Errorf("the binary needs %v, %v", libraries, err)
	}
	if out, err := exec.Command(path, "version").Output(); err != nil || !strings.Contains(string(out), "v1.987.0") {
		t.Errorf("its version is %q, %v", out, err)
	}
}

// TestAReleaseIsOfTheModulesInGoMod, even where the checkout is in a workspace that has another version of one.
func TestAReleaseIsOfTheModulesInGoMod(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "checkout")
	for name, text := range map[string]string{
		"go.work": "go 1.26.0\n\nuse (\n\t./checkout\n\t./another\n)\n",
		"checkout/go.mod": "module example.com/checkout\n\ngo 1.26.0\n\nrequire example.com/library v1.0.0\n\n" +
			"replace example.com/library => ./library\n",
		"checkout/cmd/foldql/main.go": "package main\n\nimport \"example.com/library\"\n\n" +
			"func main() { print(library.Version) }\n",
		"checkout/library/go.mod":     "module example.com/library\n",
		"checkout/library/library.go": "package library\n\nconst Version = \"released\"\n",
		"another/go.mod":              "module example.com/library\n",
		"another/library.go":          "package library\n\nconst Version = \"another\"\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "") // as on a machine where nothing turns workspaces off
	git := gitIn(t, source)
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "first")
	r, binary := release{source: source}, filepath.Join(dir, "foldql")
	if err := r.build(t.Context(), platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(binary).CombinedOutput(); err != nil || string(out) != "released" {
		t.Errorf("it is made of the version %q, %v", out, err)
	}
}

// gitIn runs git in a folder, as somebody.
func gitIn(t *testing.T, dir string) func(args ...string) {
	return func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func TestAReleaseOfAnotherCheckoutIsRefused(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	dir := t.TempDir()
	git := gitIn(t, dir)
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	r := release{version: "v1.0.0", source: dir}
	refused := func(when, want string) {
		t.Helper()
		if err := r.tagged(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %q", when, err, want)
		}
	}
	refused("without a tag", "not at the tag")
	git("tag", "v1.0.0")
	if err := r.tagged(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("with a file that is not committed", "not committed")
	r.version = "v1.0"
	refused("by a name that is no version", "MAJOR")
	r.dir = dir
	if err := r.make(t.Context()); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("into a folder that is there: %v", err)
	}
}

// TestAnArchiveForWindowsIsAZip, whose command can be run.
func TestAnArchiveForWindowsIsAZip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foldql.exe")
	if err := os.WriteFile(file, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	name, err := pack(filepath.Join(dir, "foldql_1.0.0_windows_amd64"), platform{"windows", "amd64"}, at, []string{file})
	if err != nil || name != "foldql_1.0.0_windows_amd64.zip" {
		t.Fatalf("%s, %v", name, err)
	}
	archive, err := zip.OpenReader(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	f := archive.File[0]
	if f.Name != "foldql.exe" || !f.Modified.Equal(at) || f.Mode().Perm() != 0o755 {
		t.Errorf("%s, %s, %s", f.Name, f.Modified, f.Mode())
	}
}

// TestAReleaseIsNotWrittenAmongTheSources, where it would count as a change of them: Go would mark every binary after
// the first.
func TestAReleaseIsNotWrittenAmongTheSources(t *testing.T) {
	source := repository(t)
	for dir, clean := range map[string]bool{
		filepath.Join(source, "published"): false, filepath.Join(source, "dist"): true,
		filepath.Join(t.TempDir(), "dist"): true,
	} {
		r := release{source: source, dir: dir}
		if err := r.leavesCheckoutClean(t.Context()); (err == nil) != clean {
			t.Errorf("%s: %v, want it accepted: %t", dir, err, clean)
		}
	}
}
