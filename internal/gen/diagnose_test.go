package gen

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/newproject"
)

// TestAProjectOutsideOfItsWorkspaceIsReported: under a go.work that does not list it, no project finds the library.
func TestAProjectOutsideOfItsWorkspaceIsReported(t *testing.T) {
	workspace := t.TempDir()
	write(t, filepath.Join(workspace, "go.work"), "go 1.26\n")
	dir := filepath.Join(workspace, "todo")
	if err := newproject.Write(dir, newproject.Options{Library: newproject.Library{Checkout: "../.."}}); err != nil {
		t.Fatal(err)
	}
	err := Generate(dir, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "list the project in the go.work above it") {
		t.Errorf("got %v, want an error that tells of go.work", err)
	}
}
