package gen

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/newproject"
)

// TestEachMemberOfAGroupGeneratesTheCodeOfItsProject, whoever the files belong to, also where nothing changes, and
// where the generation of another member was killed.
func TestEachMemberOfAGroupGeneratesTheCodeOfItsProject(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if os.Getuid() != 0 || err != nil {
		t.Skip("only root gives files away, and setpriv makes it another member")
	}
	generator, dir := buildInterrupted(t), t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "schema.graphqls"), read(t, dir, "schema.graphqls")+ownSchema)
	generateUntil(t, generator, dir, 0)
	giveToGroup(t, dir)
	asMember := func() {
		t.Helper()
		// Without privileges root is a user like all others, and one who has the caches of the go command.
		other := exec.Command(setpriv, "--groups=2000", "--inh-caps=-all", "--bounding-set=-all", generator, dir, "0")
		if out, err := other.CombinedOutput(); err != nil {
			t.Fatalf("another member fails: %v\n%s", err, out)
		}
	}
	before := readWanted(t, dir)
	write(t, filepath.Join(dir, filepath.FromSlash(formerExec)), "package generated\n")
	if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(execFile)), 0o444); err != nil {
		t.Fatal(err)
	}
	asMember()
	if diff := cmp.Diff(before, readWanted(t, dir)); diff != "" {
		t.Errorf("where nothing changes, another member makes (- was, + is):\n%s", diff)
	}
	write(t, filepath.Join(dir, "schema.graphqls"),
		strings.Replace(read(t, dir, "schema.graphqls"), "version: String!", "release: String!", 1))
	asMember()
	if got := read(t, dir, ownFile); !strings.Contains(got, "Release(ctx") {
		t.Errorf("another member does not generate the new field:\n%s", got)
	}
}

// giveToGroup makes a folder one that a user has together with the others of a group.
func giveToGroup(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o664)
		if e.IsDir() {
			mode = 0o775 | fs.ModeSetgid
		}
		return errors.Join(os.Chown(path, 1001, 2000), os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
}
