package newproject_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/newproject"
)

// started is what a server is started with: its arguments, and variables that the operator's take the place of.
type started struct{ args, env []string }

// image is what the Dockerfile of a project makes, without docker.
type image struct {
	started
	runs   []string    // the commands that make what is copied
	copies [][2]string // from where to where
	root   string      // the folder that has the files; "" where they are not made
}

// made is where a Dockerfile puts what goes into the image.
const made = "/out"

// readImage reads the Dockerfile of a project.
func readImage(t *testing.T, dir string) (i image) {
	t.Helper()
	final := false
	for line := range strings.Lines(string(readFile(t, filepath.Join(dir, "deploy", "Dockerfile")))) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch {
		case instruction == "FROM":
			final = rest == "scratch"
		case instruction == "RUN" && strings.Contains(rest, made):
			i.runs = append(i.runs, rest)
		case instruction == "COPY" && final:
			i.copies = append(i.copies, [2]string(words[len(words)-2:]))
		case instruction == "ENV":
			i.env = append(i.env, words...)
		case instruction == "CMD":
			if err := json.Unmarshal([]byte(rest), &i.args); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return i
}

// buildImage makes the files of the image in a folder, from those of the project.
func buildImage(t *testing.T, dir string) image {
	t.Helper()
	i, out := readImage(t, dir), t.TempDir()
	for _, command := range i.runs {
		run(t, dir, "sh", "-c", strings.ReplaceAll(command, made, out))
	}
	i.root = t.TempDir()
	for _, c := range i.copies {
		if from, ours := strings.CutPrefix(c[0], made); ours {
			copyAsDocker(t, filepath.Join(out, from), filepath.Join(i.root, c[1]))
		}
	}
	return i
}

// TestTheImageHasAFolderForTemporaryFiles, whoever runs it: rebuild verify needs one, and so do events of the standard
// input.
func TestTheImageHasAFolderForTemporaryFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server of a project")
	}
	info, err := os.Stat(filepath.Join(buildImage(t, newTodo(t)).root, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	if want := os.ModeDir | os.ModeSticky | 0o777; info.Mode() != want {
		t.Errorf("its mode is %s, want %s", info.Mode(), want)
	}
}

// TestAnImageIsBuiltAwayFromTheCheckout that a project points at, after what its Dockerfile says to do beforehand. Its
// server needs no library: there is none beside it.
func TestAnImageIsBuiltAwayFromTheCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server of a project, and its libraries")
	}
	dir := newTodo(t)
	dockerfile := string(readFile(t, filepath.Join(dir, "deploy", "Dockerfile")))
	if strings.Contains(dockerfile, "go mod download") || !strings.Contains(dockerfile, "#   go mod vendor\n") {
		t.Fatalf("it wants the checkout, or does not say what to do:\n%s", dockerfile)
	}
	run(t, dir, "go", "mod", "vendor")
	path, err := filepath.Abs(checkout.Checkout)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "vendor/modules.txt"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		write(t, name, bytes.ReplaceAll(readFile(t, name), []byte(path), []byte("/nowhere")))
	}
	server := filepath.Join(buildImage(t, dir).root, "server")
	info, err := os.Stat(server)
	if err != nil || info.Size() == 0 {
		t.Fatalf("there is no server: %v", err)
	}
	if runtime.GOOS != "linux" {
		return // docker builds it for Linux
	}
	program, err := elf.Open(server)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("it needs %q (%v)", libraries, err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			t.Error("it needs a loader")
		}
	}
}

// TestRowsStayOutOfTheImagesContext: the folder that make run keeps them in, and no other that may hold code.
func TestRowsStayOutOfTheImagesContext(t *testing.T) {
	store := regexp.MustCompile(`--store embedded:(\w+)`)
	for _, example := range append(newproject.Examples(), "") {
		dir := filepath.Join(t.TempDir(), "mine")
		if err := newproject.Write(dir, newproject.Options{Example: example, Library: checkout}); err != nil {
			t.Fatal(err)
		}
		kept := store.FindSubmatch(readFile(t, filepath.Join(dir, "Makefile")))
		if kept == nil {
			t.Fatalf("example %q: make run names no store", example)
		}
		want := "/.git/\n/" + string(kept[1]) + "/\n/bin/\n"
		if got := string(readFile(t, filepath.Join(dir, "deploy", "Dockerfile.dockerignore"))); got != want {
			t.Errorf("example %q: docker passes over\n%s, want\n%s", example, got, want)
		}
	}
}

// copyAsDocker copies a file, or what is in a folder: the folder itself is made anew, with a mode of docker's own.
func copyAsDocker(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		run(t, ".", "cp", "-p", from, to)
		return
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		run(t, ".", "cp", "-a", filepath.Join(from, e.Name()), to)
	}
}
