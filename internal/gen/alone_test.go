package gen

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/foldql/foldql/internal/gen/exclusive"
)

// TestGenerationsOfOneProjectComeOneAfterTheOther: the second says who generates, and waits, also before it reads the
// schema.
func TestGenerationsOfOneProjectComeOneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, configFile), "schema: [schema.graphqls]\n")
	held := func(int) error { return fmt.Errorf("it is held") }
	leave, err := exclusive.Take(t.Context(), filepath.Join(dir, aloneFile), held)
	if err != nil {
		t.Fatal(err)
	}
	second := exec.Command("go", "run", "github.com/foldql/foldql/cmd/foldql", "generate", "--dir", dir)
	said, err := second.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	want := fmt.Sprintf("process %d generates the code of this project: waiting until it ends", os.Getpid())
	if !lines.Scan() || lines.Text() != want {
		t.Errorf("it says %q, %v, want %q", lines.Text(), lines.Err(), want)
	}
	write(t, filepath.Join(dir, configFile), "schema: [other.graphqls]\n")
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	want = "gqlgen.yml: schema names other.graphqls, and there is no such file: correct the name, restore the file, or " +
		"take the name out"
	if !lines.Scan() || lines.Text() != want {
		t.Errorf("then it says %q, %v, want %q", lines.Text(), lines.Err(), want)
	}
	for lines.Scan() { // as go run adds
	}
	if err := second.Wait(); err == nil {
		t.Error("it generates the code without a schema")
	}
}
