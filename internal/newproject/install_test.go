package newproject_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestAnInstalledToolMakesAProject: what is released is this module as it stands here, on a module proxy in a folder.
// The tool that go install makes of it starts a project that points at no checkout, builds, serves, and has GraphiQL
// offline.
func TestAnInstalledToolMakesAProject(t *testing.T) {
	// The version that projects require of a checkout: the code of both is compiled once, since a build without paths
	// knows a package by its version.
	const version = "v0.0.0"
	proxy := t.TempDir()
	release(t, proxy, version)
	useProxy(t, proxy)
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	work := t.TempDir()
	run(t, work, "go", "install", libraryPath+"/cmd/foldql@"+version)
	tool := filepath.Join(bin, "foldql")
	if got := run(t, work, tool, "version"); got != "foldql "+version+"\n" {
		t.Errorf("the tool says of itself %q", got)
	}

	run(t, work, tool, "init", "todo", "--module", "example.com/todo")
	dir := filepath.Join(work, "todo")
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(goMod), "replace") || !strings.Contains(string(goMod), libraryPath+" "+version+"\n") {
		t.Errorf("go.mod:\n%s", goMod)
	}
	if tools := run(t, dir, "go", "tool"); !strings.Contains(tools, libraryPath+"/cmd/foldql\n") {
		t.Errorf("the tools of the project:\n%s", tools)
	}
	// As go tool does, which compiles all that the tool needs once more, for it heeds no GOFLAGS.
	run(t, dir, "go", "build", "-o", "foldql", libraryPath+"/cmd/foldql")
	run(t, dir, filepath.Join(dir, "foldql"), "lint")
	run(t, dir, "go", "build", "-o", "server", "./cmd/server")
	resp, err := http.Get(serve(t, dir) + "/assets/graphiql.js")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	script, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(script) < 1_000_000 {
		t.Errorf("the server has no GraphiQL: status %d, %d bytes, %v", resp.StatusCode, len(script), err)
	}
}

const libraryPath = "github.com/foldql/foldql"

// release puts the files of this module that git knows, or would take, on the proxy.
func release(t *testing.T, proxy, version string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	listed := run(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(name, "examples/") { // gone, or of another module
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source{name, filepath.Join(root, name), info})
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(proxy, filepath.FromSlash(libraryPath), "@v")
	write(t, filepath.Join(versions, version+".mod"), goMod)
	info, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(versions, version+".info"), info)
	write(t, filepath.Join(versions, "list"), []byte(version+"\n"))
	archive, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	err = zip.Create(archive, module.Version{Path: libraryPath, Version: version}, files)
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
}

// source is a file of the module.
type source struct {
	name, path string
	info       fs.FileInfo
}

func (f source) Path() string                 { return f.name }
func (f source) Lstat() (fs.FileInfo, error)  { return f.info, nil }
func (f source) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// useProxy has the go command take the library from the proxy, and all else from what this machine has downloaded, into
// a module cache of its own, which nobody else's version meets.
func useProxy(t *testing.T, proxy string) {
	t.Helper()
	cache := strings.TrimSpace(run(t, ".", "go", "env", "GOMODCACHE"))
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(filepath.Join(cache, "cache",
		"download")))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -modcacherw"))
	t.Setenv("GOWORK", "off")
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
