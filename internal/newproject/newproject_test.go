package newproject_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/tests/tool"
)

var checkout = newproject.Library{Checkout: "../.."}

// TestANewProjectBuildsTestsAndRuns at once, and its first query answers.
func TestANewProjectBuildsTestsAndRuns(t *testing.T) {
	dir := newTodo(t)
	if out := run(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	run(t, dir, "go", "vet", "./...")
	run(t, dir, "go", "test", "-vet=off", "./...")
	run(t, dir, "go", "build", "-o", "server", "./cmd/server")

	address := serve(t, dir)
	got := ask(t, address, `{ Task(id: "1") { name } TaskByCategory(category: "new", reverse: true) { items { `+
		`taskId } } }`)
	want := `{"data":{"Task":{"name":"Declare a read model"},"TaskByCategory":{"items":[{"taskId":"2"},{"taskId":"1"}]}}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestQueriesOfAProjectsOwnNeedNoOtherFile: a new field of Query gets a stub; nothing written by hand must change for
// it.
func TestQueriesOfAProjectsOwnNeedNoOtherFile(t *testing.T) {
	dir := newTodo(t)
	edit(t, dir, "schema.graphqls", "", "\ntype Query {\n  \"What to begin with.\"\n  first: Task\n}\n")
	if _, err := tool.Generate(dir); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "go", "build", "-o", "server", "./cmd/server")
	edit(t, dir, "graph/schema.resolvers.go", `panic(fmt.Errorf("not implemented: First - first"))`,
		`return r.r.queries.Task(ctx, "1", generated.TaskArgs{})`)
	if _, err := tool.Generate(dir); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	run(t, dir, "go", "vet", "./...")
	run(t, dir, "go", "build", "-o", "server", "./cmd/server")
	got := ask(t, serve(t, dir), `{ first { name } Task(id: "2") { name } }`)
	if want := `{"data":{"first":{"name":"Declare a read model"},"Task":{"name":"Write its projector"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// newTodo makes a new project in a folder of that name.
func newTodo(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "todo")
	if err := newproject.Write(dir, newproject.Options{Library: checkout}); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Generate(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit puts text into a file in place of what stands there once, or at its end.
func edit(t *testing.T, dir, name, old, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := string(content) + text
	if old != "" {
		edited = strings.Replace(string(content), old, text, 1)
	}
	if edited == string(content) {
		t.Fatalf("%s has no %s:\n%s", name, old, content)
	}
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts the server and returns its address when it is ready. It is stopped with the test, and must end well.
func serve(t *testing.T, dir string) string {
	t.Helper()
	address := serveWith(t, dir, "server", "serve", "--listen", "127.0.0.1:0", "--store", "embedded:data", "--sample")
	awaitAnswer(t, address, `{ Task(id: "1") { archivedAt } }`, "2024")
	return address
}

// serveWith serves by a program of the project, and returns where.
func serveWith(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, program), args...)
	cmd.Dir = dir
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for lines.Scan() { // until the server has closed it
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	for lines.Scan() {
		var entry struct{ Msg, Addr string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatalf("a line of the log is not JSON: %s", lines.Text())
		}
		if entry.Msg == "listening" {
			return "http://" + entry.Addr
		}
	}
	t.Fatal("the server ended before it listened")
	return ""
}

// awaitAnswer asks until the server is ready and its answer has the text, a minute at most.
func awaitAnswer(t *testing.T, address, query, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		resp, err := http.Get(address + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK && strings.Contains(ask(t, address, query), text) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server is not ready")
		case <-tick.C:
		}
	}
}

func ask(t *testing.T, address, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(address+"/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(answer))
}

// TestACloneOfAnEmptyRepositoryBecomesAProject, and keeps what it has.
func TestACloneOfAnEmptyRepositoryBecomesAProject(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".git/config", ".github/x.yml", "LICENSE"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/clone", Library: checkout}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/config", "LICENSE"} {
		if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(text) != name {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "schema.graphqls")); err != nil {
		t.Error(err)
	}
}

// TestWhatCannotBecomeAProjectIsRefused with a fix, and nothing is written.
func TestWhatCannotBecomeAProjectIsRefused(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir string
		options   newproject.Options
		want      string
	}{
		{"a folder that is not empty", full, newproject.Options{Library: checkout}, "is not empty, it has thesis.txt"},
		{"a module of no good name", filepath.Join(t.TempDir(), "x"), newproject.Options{Module: "my project",
			Library: checkout}, "--module"},
		{"a model of no good name", filepath.Join(t.TempDir(), "x"), newproject.Options{Model: "my task",
			Library: checkout}, "begin with a capital"},
		{"no library", filepath.Join(t.TempDir(), "x"), newproject.Options{}, "--replace"},
		{"no checkout", filepath.Join(t.TempDir(), "x"), newproject.Options{Library: newproject.Library{Checkout: full}},
			"go.mod"},
		{"a checkout of something else", filepath.Join(t.TempDir(), "x"),
			newproject.Options{Library: newproject.Library{Checkout: other(t)}}, "--replace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := newproject.Write(tt.dir, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
			if entries, _ := os.ReadDir(tt.dir); tt.dir != full && len(entries) > 0 {
				t.Errorf("%v were written", entries)
			}
		})
	}
}

// other is the folder of another module.
func other(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/other\n\ngo 1.26\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTheFirstModelIsCalledAsAskedFor, in all that a project begins with, and what cannot be called so is refused.
func TestTheFirstModelIsCalledAsAskedFor(t *testing.T) {
	for _, name := range []string{"HTTPRoute", "Type"} {
		dir := filepath.Join(t.TempDir(), "shelf")
		if err := newproject.Write(dir, newproject.Options{Model: name, Library: checkout}); err != nil {
			t.Fatal(err)
		}
		if _, err := tool.Generate(dir); err != nil {
			t.Fatal(err)
		}
		if out := run(t, dir, "gofmt", "-l", "."); out != "" {
			t.Errorf("%s: not formatted: %s", name, out)
		}
		run(t, dir, "go", "vet", "./projection/...", "./cmd/...")
		run(t, dir, "go", "test", "-vet=off", "./projection/...")
	}
	for _, name := range []string{
		"book", "My Book", "Büch", "_Book", "Query", "Mutation", "Int64", "String", "DateTime", "All", "Projectors", "B" +
			strings.Repeat("o", 60),
	} {
		if err := newproject.CheckModel(name); err == nil || !strings.Contains(err.Error(), "choose another name") &&
			!strings.Contains(err.Error(), "begin with a capital") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestAReleasedLibraryIsFetched: go.mod names the version and go.sum its sums; nothing points at a folder.
func TestAReleasedLibraryIsFetched(t *testing.T) {
	const version = "v1.2.3"
	versions := filepath.Join(t.TempDir(), "github.com", "foldql", "foldql", "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	mod := "module github.com/foldql/foldql\n\ngo 1.26.0\n\nrequire example.com/needed v1.0.0\n"
	library := t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(library, "go.mod"):         mod,
		filepath.Join(library, "go.sum"):         "example.com/needed v1.0.0 h1:sum=\n",
		filepath.Join(versions, version+".mod"):  mod,
		filepath.Join(versions, version+".info"): `{"Version": "v1.2.3"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	release := module.Version{Path: "github.com/foldql/foldql", Version: version}
	if err := errors.Join(zip.CreateFromDir(archive, release, library), archive.Close()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(strings.TrimSuffix(versions, "/github.com/foldql/foldql/@v")))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())

	dir := t.TempDir()
	err = newproject.Write(dir, newproject.Options{Module: "example.com/todo",
		Library: newproject.Library{Version: version}})
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	goSum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"require github.com/foldql/foldql v1.2.3\n", "example.com/needed v1.0.0 // indirect",
		"tool github.com/foldql/foldql/cmd/foldql"} {
		if !strings.Contains(string(goMod), want) {
			t.Errorf("go.mod lacks %q:\n%s", want, goMod)
		}
	}
	dockerfile := string(readFile(t, filepath.Join(dir, "deploy", "Dockerfile")))
	if strings.Contains(dockerfile, "vendor") || !strings.Contains(dockerfile, "go mod download") {
		t.Errorf("the Dockerfile does not have the library fetched:\n%s", dockerfile)
	}
	if strings.Contains(string(goMod), "replace") {
		t.Errorf("go.mod points at a folder:\n%s", goMod)
	}
	for _, want := range []string{"example.com/needed v1.0.0 h1:", "github.com/foldql/foldql v1.2.3 h1:",
		"github.com/foldql/foldql v1.2.3/go.mod h1:"} {
		if !strings.Contains(string(goSum), want) {
			t.Errorf("go.sum lacks %q:\n%s", want, goSum)
		}
	}
	err = newproject.Write(t.TempDir(), newproject.Options{Module: "example.com/todo",
		Library: newproject.Library{Version: "v9.9.9"}})
	if err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("a version that is not there: %v", err)
	}
}
